//! `DELETE /api/v1/oauth-providers/{user_id}/{provider_id}`: unlinks an account at an OAuth
//! provider. The account's tokens are deleted, and another user can link the account immediately.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError, SIGN_IN_CHANGE_ERRORS};
use flows::accounts::read;
use flows::literal::{SUCCESS, Success};

use crate::oauth::provider_accounts::{ProviderAccountPath, change};
use model::limit::Limit;

pub const ROUTE: Route = Route::delete("auth-oauth-provider-delete", "/api/v1/oauth-providers/{user_id}/{provider_id}")
    .summary("Unlinks a user's account at an OAuth provider")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(SIGN_IN_CHANGE_ERRORS)
    .errors(&[ErrorCode::ProviderAccountNotFound, ErrorCode::LastSignInMethod]);

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, ProviderAccountPath>,
) -> Result<Json<Success>, Error> {
    let (user_id, missing) = (access.user_id(path.user_id)?, KnownError::ProviderAccountNotFound);
    let row = read(&access, user_id).await?.ok_or_else(|| missing.clone())?;
    change(&access, row, missing, |user| user.remove_account(path.provider_id)).await?;
    Ok(Json(SUCCESS))
}
