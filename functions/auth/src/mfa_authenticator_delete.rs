//! `DELETE /api/v1/auth/mfa/authenticators/{authenticator_id}`: removes an authenticator app.
//! Removing the last app disables the second factor and removes the recovery codes.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::{ExtraWrites, change_as};
use flows::literal::{SUCCESS, Success};
use model::limit::Limit;
use utoipa::ToSchema;
use wire::id::AuthenticatorId;

pub const ROUTE: Route = Route::delete("auth-mfa-authenticator-delete", "/api/v1/auth/mfa/authenticators/{authenticator_id}")
    .summary("Removes an authenticator app")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::ReauthenticationRequired, ErrorCode::AuthenticatorNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct AuthenticatorPath {
    /// The id of one of the signed-in user's authenticator apps.
    authenticator_id: AuthenticatorId,
}

pub async fn handle(
    access: Access<Client>,
    Input { path, .. }: Input<IgnoredBody, Nothing, AuthenticatorPath>,
) -> Result<Json<Success>, Error> {
    let row = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row;
    access.check_just_proved()?;
    change_as(&access, row.clone(), KnownError::UserAuthenticationRequired, |user| {
        let totp = user.totp.take().filter(|totp| totp.app(path.authenticator_id).is_some());
        user.totp = totp.ok_or(KnownError::AuthenticatorNotFound)?.without(path.authenticator_id);
        Ok(ExtraWrites::default())
    })
    .await?;
    Ok(Json(SUCCESS))
}
