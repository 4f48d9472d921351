//! `PATCH /api/v1/oauth-providers/{user_id}/{provider_id}`: changes what an account at an OAuth
//! provider may be used for. A server can also change the account's email address, and the
//! account's id at the provider.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, SIGN_IN_CHANGE_ERRORS};
use flows::accounts::read;
use model::email::any::AnyEmail;
use model::provider::account::ProviderAccountRead;
use model::user::provider_accounts::AccountPatch;
use utoipa::ToSchema;
use wire::level::Level;
use wire::problem::Problems;

use crate::oauth::provider_accounts::{AccountId, ProviderAccountPath, change};

pub const ROUTE: Route = Route::patch("auth-oauth-provider-update", "/api/v1/oauth-providers/{user_id}/{provider_id}")
    .summary("Updates a user's account at an OAuth provider")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(SIGN_IN_CHANGE_ERRORS)
    .errors(&[
        ErrorCode::ProviderAccountNotFound,
        ErrorCode::OauthProviderAccountIdAlreadyUsedForSignIn,
        ErrorCode::AnotherProviderAccountSignsIn,
        ErrorCode::LastSignInMethod,
    ]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UpdateProviderAccount {
    /// Whether the user can sign in with the account.
    allow_sign_in: Option<bool>,
    /// Whether the app can get the provider's access tokens for the account.
    allow_connected_accounts: Option<bool>,
    /// The email address of the account, which only servers can set.
    email: Option<AnyEmail>,
    /// The account's id at the provider, which only servers can set. Setting the id deletes the
    /// tokens of the previous account.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 512)]
    account_id: Option<AccountId>,
}

pub async fn handle(
    access: Access<Client>,
    Input { body, path, .. }: Input<UpdateProviderAccount, Nothing, ProviderAccountPath>,
) -> Result<Json<ProviderAccountRead>, Error> {
    for (field, is_given) in [("email", body.email.is_some()), ("account_id", body.account_id.is_some())] {
        if is_given && access.level < Level::Server {
            let problem = Problems::one(&format!("body.{field}"), "can be set only with server access");
            return Err(ROUTE.schema_error(&problem).into());
        }
    }
    let (user_id, missing) = (access.user_id(path.user_id)?, KnownError::ProviderAccountNotFound);
    let row = read(&access, user_id).await?.ok_or_else(|| missing.clone())?;
    let patch = AccountPatch {
        account_id: body.account_id.map(|id| id.0),
        email: body.email.map(|email| email.0),
        allow_sign_in: body.allow_sign_in,
        allow_connected_accounts: body.allow_connected_accounts,
    };
    let user = change(&access, row, missing, |user| user.change_account(path.provider_id, patch.clone())).await?;
    let account = user.provider_account(path.provider_id).ok_or(KnownError::ProviderAccountNotFound)?;
    Ok(Json(ProviderAccountRead::of(user_id, account, access.level)))
}
