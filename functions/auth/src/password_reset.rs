//! `POST /api/v1/auth/password/reset`: sets a new password with the code from an email, and ends
//! all sessions. If the code proves an email address that was never verified, the recipient of the
//! email becomes the owner of the account ([`ownership`](model::user::ownership)).
//!
//! The password is checked before the code is redeemed, so a rejected password does not use up the
//! code. The reset also clears the count of wrong passwords, so the owner can sign in with the new
//! password immediately.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Admission, Json, Need, Route};
use api::product::code_access::{CodeAccess, ResetCode};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::password::Password;
use crypto::password::hash::Hash;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError, NEW_PASSWORD_ERRORS};
use flows::App;
use flows::accounts::{redeemed, taken_error};
use flows::email::notice;
use flows::limits::Failures;
use flows::literal::{SUCCESS, Success};
use flows::new_owner::hand_over;
use model::code::{Code, CodeRefusal, Purpose, StoredCode};
use model::limit::Limit;
use model::password;
use model::user::User;
use model::user::ownership::Proof;
use store::user::UserRow;
use store::user::account::Outcome;
use store::{Contention as _, Write, code, optimistic};
use utoipa::ToSchema;
use wire::id::ProjectId;

pub const ROUTE: Route = Route::post("auth-password-reset", "/api/v1/auth/password/reset")
    .summary("Sets a new password with the code from an email")
    .limit(Limit::Code)
    .admits(Admission::Restricted)
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(NEW_PASSWORD_ERRORS)
    .errors(&[ErrorCode::PasswordAuthenticationNotEnabled])
    .needs(&[Need::Hashing]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Reset {
    code: Code,
    /// The new password. The requirements are the same as at sign-up.
    password: Password,
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<ResetCode>,
    Input { body, .. }: Input<Reset>,
) -> Result<Json<Success>, Error> {
    let (project, config) = (&access.access.project.id, &access.access.project.config);
    let forget = async |stored: StoredCode| Failures::for_email(&app, project, stored.email.as_str()).forget().await;
    let (stored, row, forget) = access.decide_with(&body.code, forget).await?;
    if !config.credential_enabled {
        return Err(KnownError::PasswordAuthenticationNotEnabled.into());
    }
    let row = row.ok_or(KnownError::VerificationCodeNotFound)?;
    password::check(&body.password, access.access.project.password_rules(), row.user.addresses())?;
    let hash = app.hasher.hash(&app.entropy, body.password.secret()).await;
    let redeem = [code::redeem(project, Purpose::ResetPassword, &body.code)].into_iter().chain(forget);
    let (redeem, mut row): (Vec<Write>, _) = (redeem.collect(), row);
    optimistic!(|attempt| {
        if attempt > 0 {
            row = app.store.user(project, row.user.id).await?.ok_or(KnownError::VerificationCodeNotFound)?;
        }
        let (user, told) = reset(&access.access, &stored, &row, hash.clone()).await?;
        redeemed(write(&app, project, (&row, &user), redeem.iter().cloned().chain(told).collect()).await)
    })?;
    Ok(Json(SUCCESS))
}

/// Sets the new password, and returns the changed user and the writes that notify the owner.
async fn reset(access: &Access<Client>, stored: &StoredCode, row: &UserRow, hash: Hash) -> Result<(User, Vec<Write>), Error> {
    let (app, project) = (&access.app, &access.project);
    if !stored.is_of_epoch(&row.user) {
        return Err(CodeRefusal::NotFound.into());
    }
    // A code that was sent to an address that the user has given up proves nothing, because another
    // person may read the emails to this address.
    let mut user = row.user.clone();
    let prover = access.prover(&user);
    let proof = user.prove(&stored.email, prover, app.entropy.uuid().into()).ok_or(CodeRefusal::NotFound)?;
    user.set_password(hash, None);
    // The first proof of an address locks out the people who had the account before, so they are
    // not notified.
    let told = if proof == Proof::First {
        hand_over(app, project, row, &mut user).await?
    } else {
        notice::about_reset(app, project, Some(&access.place), &row.user, &mut user)?
    };
    Ok((user, told))
}

/// Writes the change, unless the user has changed since `row` was read.
async fn write(app: &App, project: &ProjectId, (row, user): (&UserRow, &User), writes: Vec<Write>) -> Result<(), Error> {
    match app.store.change_account(project, row, user, writes).await? {
        Outcome::Done => Ok(()),
        Outcome::Changed => Err(Error::conflict()),
        taken => Err(taken_error(taken).into()),
    }
}
