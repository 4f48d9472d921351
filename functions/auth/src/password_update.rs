//! `POST /api/v1/auth/password/update`: replaces the password of the signed-in user, who has to
//! send the old password. All sessions end except the session of the refresh token in the header.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Need, Route};
use api::product::header_family::header;
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::password::Password;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, NEW_PASSWORD_ERRORS};
use flows::App;
use flows::accounts::{ExtraWrites, change_as};
use flows::limits::Failures;
use flows::literal::{SUCCESS, Success};
use http::HeaderMap;
use model::limit::Limit;
use model::password;
use secrecy::SecretString;
use utoipa::ToSchema;
use wire::id::{SessionId, UserId};

use crate::sign_in::old_password;

pub const ROUTE: Route = Route::post("auth-password-update", "/api/v1/auth/password/update")
    .summary("Replaces the password of the signed-in user")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(NEW_PASSWORD_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::ReauthenticationRequired,
        ErrorCode::PasswordAuthenticationNotEnabled,
        ErrorCode::UserDoesNotHavePassword,
        ErrorCode::PasswordConfirmationMismatch,
    ])
    .needs(&[Need::Hashing]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UpdatePassword {
    old_password: Password,
    /// The requirements are the same as at sign-up.
    new_password: Password,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    headers: HeaderMap,
    Input { body, .. }: Input<UpdatePassword>,
) -> Result<Json<Success>, Error> {
    let row = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row;
    let user = &row.user;
    if !access.project.config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled.into());
    }
    access.check_fresh()?;
    password::check(&body.new_password, access.project.password_rules(), user.addresses())?;
    let failures = Failures::for_old_password(&app, &access.project.id, user.id);
    let proof = old_password::prove(&failures, &access, user, &body.old_password);
    let (attempt, kept) = futures_util::try_join!(proof, kept_session(&access, &headers, user.id))?;
    let old = user.password.as_ref();
    let hash = app.hasher.hash(&app.entropy, body.new_password.secret()).await;
    let change = change_as(&access, row.clone(), KnownError::UserAuthenticationRequired, |user| {
        // If the password has changed in the meantime, `old_password` no longer proves anything.
        if user.password.as_ref() != old {
            return Err(KnownError::PasswordConfirmationMismatch.into());
        }
        user.set_password(hash.clone(), kept);
        Ok(ExtraWrites(Vec::new()))
    });
    attempt.permit(Box::pin(change)).await?;
    Ok(Json(SUCCESS))
}

/// The session of the refresh token in the header, if the session belongs to this user.
async fn kept_session(access: &Access<Client>, headers: &HeaderMap, user: UserId) -> Result<Option<SessionId>, Error> {
    let Some(token) = header(headers, "refresh-token")? else { return Ok(None) };
    let claim = access.app.store.token_claim(&access.project.id, &SecretString::from(token.to_owned())).await?;
    Ok(claim.filter(|claim| claim.user_id == user).map(|claim| claim.session_id))
}
