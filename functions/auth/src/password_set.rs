//! `POST /api/v1/auth/password/set`: sets the first password of a user who has no password. The
//! user's sessions stay valid, but earlier codes become invalid.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Need, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::password::Password;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, NEW_PASSWORD_ERRORS};
use flows::App;
use flows::accounts::{ExtraWrites, change_as};
use flows::literal::{SUCCESS, Success};
use model::password;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("auth-password-set", "/api/v1/auth/password/set")
    .summary("Sets the first password of the signed-in user")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(NEW_PASSWORD_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::ReauthenticationRequired,
        ErrorCode::PasswordAuthenticationNotEnabled,
        ErrorCode::UserHasPassword,
    ])
    .needs(&[Need::Hashing]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SetPassword {
    /// The requirements are the same as at sign-up.
    password: Password,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<SetPassword>,
) -> Result<Json<Success>, Error> {
    let row = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row;
    if !access.project.config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled.into());
    }
    access.check_fresh()?;
    password::check(&body.password, access.project.password_rules(), row.user.addresses())?;
    if row.user.password.is_some() {
        return Err(KnownError::UserHasPassword.into());
    }
    let hash = app.hasher.hash(&app.entropy, body.password.secret()).await;
    change_as(&access, row.clone(), KnownError::UserAuthenticationRequired, |user| {
        if user.password.is_some() {
            return Err(KnownError::UserHasPassword.into());
        }
        user.password = Some(hash.clone());
        user.first_password_at = Some(app.clock.now());
        user.forget_wrong_passwords();
        user.renew_epoch();
        Ok(ExtraWrites::default())
    })
    .await?;
    Ok(Json(SUCCESS))
}
