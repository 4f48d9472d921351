//! `GET /api/v1/oauth-providers/{user_id}/{provider_id}`: returns a user's account at an OAuth
//! provider.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::accounts::read;
use model::provider::account::ProviderAccountRead;

use crate::oauth::provider_accounts::ProviderAccountPath;

pub const ROUTE: Route = Route::get("auth-oauth-provider-read", "/api/v1/oauth-providers/{user_id}/{provider_id}")
    .summary("Returns a user's account at an OAuth provider")
    .table(&[BatchGetItem])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::ProviderAccountNotFound]);

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, ProviderAccountPath>,
) -> Result<Json<ProviderAccountRead>, Error> {
    let user_id = access.user_id(path.user_id)?;
    let user = read(&access, user_id).await?.map(|row| row.user);
    let account = user.as_ref().and_then(|user| user.provider_account(path.provider_id)).ok_or(KnownError::ProviderAccountNotFound)?;
    Ok(Json(ProviderAccountRead::of(user_id, account, access.level)))
}
