//! `PATCH /api/v1/passkeys/{user_id}/{passkey_id}`: renames a passkey.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::Nothing;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::read;
use model::passkey::view::PasskeyRead;
use model::user::passkey::PasskeyName;
use utoipa::ToSchema;

use crate::passkeys::change::{PasskeyPath, change};

pub const ROUTE: Route = Route::patch("auth-passkey-update", "/api/v1/passkeys/{user_id}/{passkey_id}")
    .summary("Renames a passkey")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::Forbidden, ErrorCode::PasskeyNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UpdatePasskey {
    /// The new name.
    name: PasskeyName,
}

pub async fn handle(
    access: Access<Client>,
    Input { body, path, .. }: Input<UpdatePasskey, Nothing, PasskeyPath>,
) -> Result<Json<PasskeyRead>, Error> {
    let user_id = access.user_id(path.user_id)?;
    let row = read(&access, user_id).await?.ok_or(KnownError::PasskeyNotFound)?;
    let user = change(&access, row, |user| user.rename_passkey(path.passkey_id, &body.name)).await?;
    let passkey = user.passkey(path.passkey_id).ok_or(KnownError::PasskeyNotFound)?;
    Ok(Json(PasskeyRead::of(user_id, passkey)))
}
