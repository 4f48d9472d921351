//! `PATCH /api/v1/auth/mfa/authenticators/{authenticator_id}`: renames an authenticator app.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::{ExtraWrites, change_as};
use model::user::enrolment::AuthenticatorName;
use model::user::totp::{AuthenticatorView, Totp};
use utoipa::ToSchema;
use wire::id::AuthenticatorId;

pub const ROUTE: Route = Route::patch("auth-mfa-authenticator-update", "/api/v1/auth/mfa/authenticators/{authenticator_id}")
    .summary("Renames an authenticator app")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::AuthenticatorNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct AuthenticatorPath {
    /// The id of one of the signed-in user's authenticator apps.
    authenticator_id: AuthenticatorId,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RenameAuthenticator {
    /// A name by which the user will recognize the app.
    name: AuthenticatorName,
}

pub async fn handle(
    access: Access<Client>,
    Input { body, path, .. }: Input<RenameAuthenticator, Nothing, AuthenticatorPath>,
) -> Result<Json<AuthenticatorView>, Error> {
    let row = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row;
    let changed = change_as(&access, row.clone(), KnownError::UserAuthenticationRequired, |user| {
        let app = user.totp.iter_mut().flat_map(Totp::apps_mut).find(|app| app.id == path.authenticator_id);
        app.ok_or(KnownError::AuthenticatorNotFound)?.name = Some(body.name.0.clone());
        Ok(ExtraWrites::default())
    })
    .await?;
    let app = changed.user.totp.as_ref().and_then(|totp| totp.app(path.authenticator_id));
    Ok(Json(app.ok_or(KnownError::AuthenticatorNotFound)?.into()))
}
