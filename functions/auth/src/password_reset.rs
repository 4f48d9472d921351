//! `POST /api/v1/auth/password/reset`: sets a new password with the code from a mail, and ends all sessions.
//!
//! The password is checked before the code is redeemed, so that one that is too short burns nothing (WIRE.md, decision 7).

use axum::extract::State;
use deserr::Deserr;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::code::{Code, Purpose};
use shared::model::limit::Limit;
use shared::model::password::Password;
use shared::product_api::accounts::{With, change_read, redeemed};
use shared::product_api::code_access::{CodeAccess, ResetCode};
use shared::product_api::literal::{SUCCESS, Success};
use shared::product_api::{Error, Input, KnownError};
use shared::store::codes;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("auth-password-reset", "/api/v1/auth/password/reset")
    .summary("Sets a new password with the code from a mail")
    .limit(Limit::Code)
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(&[
        "VERIFICATION_CODE_NOT_FOUND",
        "VERIFICATION_CODE_EXPIRED",
        "VERIFICATION_CODE_ALREADY_USED",
        "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED",
        "PASSWORD_AUTHENTICATION_NOT_ENABLED",
        "PASSWORD_TOO_SHORT",
        "PASSWORD_TOO_LONG",
    ])
    .hashes_passwords();

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Reset {
    code: Code,
    /// The new password: 8 to 128 characters; a project may ask for more than 8.
    password: Password,
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<ResetCode>,
    Input { body, .. }: Input<Reset>,
) -> Result<Json<Success>, Error> {
    let (project, config) = (&access.access.project.id, &access.access.project.config);
    let (stored, row) = access.decide(&app, &body.code).await?;
    if !config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled.into());
    }
    body.password.check(config.password_min_length)?;
    let row = row.ok_or(KnownError::VerificationCodeNotFound)?;
    let hash = app.hasher.hash(&app.entropy, body.password.secret()).await;
    let result = change_read(&app, project, row, KnownError::VerificationCodeNotFound, |user| {
        // Whoever reads the mails of an address that the user has given up is not the user.
        if !user.channel_of(&stored.email).is_some_and(|channel| channel.used_for_auth) {
            return Err(KnownError::VerificationCodeNotFound.into());
        }
        user.set_password(hash.clone(), None);
        Ok(With(vec![codes::redeem(project, Purpose::ResetPassword, &body.code)]))
    });
    redeemed(result.await)?;
    Ok(Json(SUCCESS))
}
