//! `POST /api/v1/auth/sessions/current/reauthenticate`: the user proves again that the session is theirs. Projects can require a recent
//! proof for changes to how a user signs in.
//!
//! The proof is a credential that would also sign in: the password, a code from the authenticator app, or a sign-in code sent to the
//! user by email. Wrong attempts are counted as they are elsewhere, and a code works once.
//!
//! A credential that was added since the session's last proof is none: whoever stole the session would add one of their own, and stay.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::password::Password;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::App;
use flows::current_user::CurrentUser;
use flows::limits::Failures;
use flows::literal::{SUCCESS, Success};
use jiff::Timestamp;
use model::code::{Code, Purpose, Rejected};
use model::limit::Limit;
use model::session::Amr;
use model::trail::Event;
use store::{Label, Write, code, session, user};
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::sign_in::old_password;

pub const ROUTE: Route = Route::post("auth-session-reauthenticate", "/api/v1/auth/sessions/current/reauthenticate")
    .summary("Proves that the signed-in user is there")
    .limit(Limit::SignIn)
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::ReauthenticationRequired,
        ErrorCode::UserDoesNotHavePassword,
        ErrorCode::PasswordConfirmationMismatch,
        ErrorCode::InvalidTotpCode,
    ])
    .hashes_passwords();

/// Exactly one of them.
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Reauthenticate {
    /// The user's password.
    #[deserr(default)]
    password: Option<Password>,
    /// Six digits of the authenticator app.
    #[deserr(default)]
    totp: Option<String>,
    /// A sign-in code that was mailed to the user.
    #[deserr(default)]
    code: Option<Code>,
}

/// What is written when the proof is right.
struct Proof {
    writes: Vec<Write>,
    amr: Amr,
    /// Which of them fails if somebody else has used the proof in the meantime.
    label: Label,
    /// The error in that case.
    used: KnownError,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<Reauthenticate>,
) -> Result<Json<Success>, Error> {
    let current = access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?;
    let proof = match (&body.password, &body.totp, &body.code) {
        (Some(password), None, None) => by_password(&app, &access, current, password).await?,
        (None, Some(totp), None) => by_totp(&app, &access, current, totp).await?,
        (None, None, Some(code)) => by_code(&app, &access, current, code).await?,
        _ => {
            let problem = Problems::one("body", "must have one of password, totp and code");
            return Err(ROUTE.schema_error(&problem).into());
        }
    };
    let mut writes = proof.writes;
    writes.push(session::reauthenticate(&access.project.id, &current.session, &[proof.amr], app.clock.now())?);
    match app.store.transact(writes).await {
        Ok(()) => Ok(Json(SUCCESS)),
        Err(store::Error::Conflict(conflict)) if conflict.is_of(proof.label) => Err(proof.used.into()),
        Err(error) => Err(error.into()),
    }
}

/// Refuses a credential that the user has only since the session's last proof.
fn check_age(current: &CurrentUser, since: Option<Timestamp>) -> Result<(), KnownError> {
    if current.session.is_proved_by(since) { Ok(()) } else { Err(KnownError::ReauthenticationRequired) }
}

async fn by_password(app: &App, access: &Access<Client>, current: &CurrentUser, password: &Password) -> Result<Proof, Error> {
    let (project, user) = (&access.project.id, &current.row.user);
    check_age(current, user.first_password_at)?;
    let failures = old_password::prove(app, project, user, password).await?;
    let writes = [user::at_epoch(project, user.id, user.credential_epoch)].into_iter().chain(failures.still_allowed()).collect();
    Ok(Proof { writes, amr: Amr::Pwd, label: Label::User, used: KnownError::PasswordConfirmationMismatch })
}

async fn by_totp(app: &App, access: &Access<Client>, current: &CurrentUser, code: &str) -> Result<Proof, Error> {
    let (project, user) = (&access.project.id, &current.row.user);
    let totp = user.totp.as_ref().ok_or(KnownError::InvalidTotpCode)?;
    check_age(current, totp.set_at)?;
    let failures = Failures::of_second_factor(app, project, user.id);
    failures.look().await?;
    let Some(step) = totp.check(&app.sealer, project, user.id, code.trim(), app.clock.now())? else {
        failures.count().await?;
        app.store.record_failure(Some(user.id), Event::ProofFailed).await?;
        return Err(KnownError::InvalidTotpCode.into());
    };
    let writes = [user::use_totp_step(project, user, totp, step)?].into_iter().chain(failures.still_allowed()).collect();
    Ok(Proof { writes, amr: Amr::Otp, label: Label::TotpStep, used: KnownError::InvalidTotpCode })
}

async fn by_code(app: &App, access: &Access<Client>, current: &CurrentUser, code: &Code) -> Result<Proof, Error> {
    let (project, user) = (&access.project.id, &current.row.user);
    let stored = app.store.try_code(project, Purpose::SignIn, code, app.clock.now()).await??;
    // A code proves an address that signs this user in, and was sent for no other account.
    let signs_in = user.channel_of(&stored.email).is_some_and(|channel| channel.signs_in() && channel.is_verified);
    if stored.user_id != Some(user.id) || !stored.is_of_epoch(user) || !signs_in {
        return Err(Rejected::NotFound.into());
    }
    check_age(current, user.notices.joined_at(&stored.email))?;
    let writes = vec![code::redeem(project, Purpose::SignIn, code), user::at_epoch(project, user.id, user.credential_epoch)];
    Ok(Proof { writes, amr: Amr::Otp, label: Label::Code, used: Rejected::AlreadyUsed.into() })
}
