//! `GET /api/v1/connected-accounts/{user_id}`: lists the OAuth provider accounts of a user for
//! which the app can get access tokens.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing, UserPath};
use api::product::page::List;
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::UserId;

use crate::oauth::connected_accounts::user;

pub const ROUTE: Route = Route::get("auth-connected-account-list", "/api/v1/connected-accounts/{user_id}")
    .summary("Lists a user's connected accounts, for which the app can get provider access tokens")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserNotFound]);

#[derive(Serialize, ToSchema)]
pub struct ConnectedAccount {
    user_id: UserId,
    provider: String,
    /// The account's id at the provider.
    provider_account_id: String,
}

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, UserPath>,
) -> Result<Json<List<ConnectedAccount>>, Error> {
    let user = user(&access, path.user_id).await?.ok_or(KnownError::UserNotFound)?;
    let item = |account: model::provider::account::ProviderAccount| ConnectedAccount {
        user_id: user.id,
        provider: account.provider_id,
        provider_account_id: account.account_id,
    };
    Ok(Json(List::whole(user.provider_accounts.into_iter().filter(|account| account.allow_connected_accounts).map(item).collect())))
}
