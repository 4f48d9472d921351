//! `DELETE /api/v1/passkeys/{user_id}/{passkey_id}`: deletes a passkey. The passkey can no longer
//! be used to sign in, but its private key stays on the device until the user deletes it on the
//! device.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::read;
use flows::literal::{SUCCESS, Success};

use crate::passkeys::change::{PasskeyPath, change};
use model::limit::Limit;

pub const ROUTE: Route = Route::delete("auth-passkey-delete", "/api/v1/passkeys/{user_id}/{passkey_id}")
    .summary("Deletes a passkey")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(&[
        ErrorCode::CannotGetOwnUserWithoutUser,
        ErrorCode::Forbidden,
        ErrorCode::ReauthenticationRequired,
        ErrorCode::PasskeyNotFound,
        ErrorCode::LastSignInMethod,
    ]);

pub async fn handle(access: Access<Client>, Input { path, .. }: Input<IgnoredBody, Nothing, PasskeyPath>) -> Result<Json<Success>, Error> {
    let user_id = access.user_id(path.user_id)?;
    access.check_fresh()?;
    let row = read(&access, user_id).await?.ok_or(KnownError::PasskeyNotFound)?;
    change(&access, row, |user| user.remove_passkey(path.passkey_id)).await?;
    Ok(Json(SUCCESS))
}
