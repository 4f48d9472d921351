//! `POST /api/v1/oauth-providers`: links an account at an OAuth provider to a user. Requires server
//! access. If several requests link the same account concurrently, only one of them succeeds.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, NamedItem, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::read;
use model::email::any::AnyEmail;
use model::provider::account::{ProviderAccount, ProviderAccountRead};
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::ProviderAccountId;

use crate::oauth::provider_accounts::{AccountId, change};

pub const ROUTE: Route = Route::post("auth-oauth-provider-create", "/api/v1/oauth-providers")
    .summary("Links an account at an OAuth provider to a user")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(&[
        ErrorCode::CannotGetOwnUserWithoutUser,
        ErrorCode::UserIdDoesNotExist,
        ErrorCode::OauthProviderNotFoundOrNotEnabled,
        ErrorCode::OauthProviderAccountIdAlreadyUsedForSignIn,
        ErrorCode::AnotherProviderAccountSignsIn,
        ErrorCode::TooManyProviderAccounts,
    ]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct CreateProviderAccount {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    user_id: UserRef,
    /// The id of one of the project's providers.
    provider_config_id: String,
    /// The user's id at the provider. Each account belongs to at most one user of a project.
    #[schema(value_type = String, min_length = 1, max_length = 512)]
    account_id: AccountId,
    email: Option<AnyEmail>,
    /// Whether the user can sign in with the account.
    allow_sign_in: bool,
    /// Whether the app can get the provider's access tokens for the account.
    allow_connected_accounts: bool,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, .. }: Input<CreateProviderAccount>,
) -> Result<CreatedJson<ProviderAccountRead>, Error> {
    let user_id = access.user_id(body.user_id)?;
    let config = &access.project.config;
    let provider = config.oauth_provider(&body.provider_config_id).ok_or(KnownError::OauthProviderNotFoundOrNotEnabled)?;
    let missing = KnownError::UserIdDoesNotExist { user_id: user_id.to_string() };
    let row = read(&access, user_id).await?.ok_or_else(|| missing.clone())?;
    let account = ProviderAccount {
        id: ProviderAccountId::from(app.entropy.uuid()),
        issuer: config.issuer_of_accounts(provider),
        provider_id: body.provider_config_id,
        account_id: body.account_id.0,
        email: body.email.map(|email| email.0),
        allow_sign_in: body.allow_sign_in,
        allow_connected_accounts: body.allow_connected_accounts,
    };
    change(&access, row, missing, |user| user.add_account(account.clone())).await?;
    Ok(CreatedJson(ProviderAccountRead::of(user_id, &account, access.level)))
}
