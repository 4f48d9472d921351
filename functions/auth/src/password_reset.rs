//! `POST /api/v1/auth/password/reset`: sets a new password with the code from an email and ends all
//! sessions. If the code proves an email address that was never verified, its recipient becomes
//! the owner of the account ([`ownership`](model::user::ownership)).
//!
//! The password is checked before the code is redeemed, so a password that is too short does not
//! use up the code. The reset also clears the count of wrong passwords: the owner can sign in with
//! the new password at once.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::Input;
use api::product::code_access::{CodeAccess, ResetCode};
use axum::extract::State;
use crypto::password::Password;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError, NEW_PASSWORD_ERRORS};
use flows::App;
use flows::accounts::{With, change_read, redeemed};
use flows::email::code::account_claimed;
use flows::email::notice;
use flows::limits::Failures;
use flows::literal::{SUCCESS, Success};
use flows::teams::start_anew;
use model::code::{Code, Purpose, Rejected};
use model::limit::Limit;
use model::password;
use model::user::ownership::Proof;
use store::code;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("auth-password-reset", "/api/v1/auth/password/reset")
    .summary("Sets a new password with the code from an email")
    .limit(Limit::Code)
    .open_to_restricted()
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(NEW_PASSWORD_ERRORS)
    .errors(&[ErrorCode::PasswordAuthenticationNotEnabled])
    .hashes_passwords();

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Reset {
    code: Code,
    /// The new password. The same requirements apply as to a password at sign-up.
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
    let row = row.ok_or(KnownError::VerificationCodeNotFound)?;
    password::check(&body.password, &access.access.project, row.user.addresses())?;
    let hash = app.hasher.hash(&app.entropy, body.password.secret()).await;
    let failures = Failures::of(&app, project, stored.email.as_str());
    let result = change_read(&app, project, row, KnownError::VerificationCodeNotFound, |user| {
        if !stored.is_of_epoch(user) {
            return Err(Rejected::NotFound.into());
        }
        // A code sent to an email address that the user has given up proves nothing, because
        // somebody else may read the emails to that address.
        let (prover, before) = (access.access.prover(user), user.clone());
        let proof = user.prove(&stored.email, prover, app.entropy.uuid().into()).ok_or(Rejected::NotFound)?;
        user.set_password(hash.clone(), None);
        // A first proof shuts out whoever had the account before, so they are not notified.
        let told = if proof == Proof::First {
            let anew = start_anew(&app, &access.access.project, &before, user)?;
            anew.into_iter().chain(account_claimed(&app, project, user, app.clock.now())?).collect()
        } else {
            notice::of_reset(&app, &access.access.project, Some(&access.access.place), &before, user)?
        };
        let redeem = code::redeem(project, Purpose::ResetPassword, &body.code);
        Ok(With([redeem].into_iter().chain(failures.forget()).chain(told).collect()))
    });
    redeemed(result.await)?;
    Ok(Json(SUCCESS))
}
