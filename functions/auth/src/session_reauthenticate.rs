//! `POST /api/v1/auth/sessions/current/reauthenticate`: accepts a new proof that the caller is the
//! session's user. Projects can require a recent proof for changes to how a user signs in.
//!
//! The proof is a credential that is also accepted at sign-in: the password, a code from the
//! authenticator app, a recovery code, an emailed sign-in code, or a passkey. Wrong passwords and
//! codes count towards a limit, and a correct code works only once.
//!
//! Credentials added since the session's last proof are not accepted, because someone who stole the
//! session could otherwise add a credential and keep access.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, PutItem, UpdateItem};
use api::http::{Admission, Json, Need, Route};
use api::product::{Access, Client, Input};
use crypto::password::Password;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::current_user::CurrentUser;
use flows::limits::Failures;
use flows::literal::{SUCCESS, Success};
use jiff::Timestamp;
use model::code::{Code, CodeRefusal, Purpose};
use model::limit::Limit;
use model::session::Amr;
use model::trail::Event;
use store::{Label, Write, code, optimistic, session, user};
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::passkeys::proof::{PasskeyProof, PasskeyResponse};
use crate::sign_in::old_password;
use crate::sign_in::second_factor_code::{SECOND_FACTOR_ERRORS, SecondFactorCode};

pub const ROUTE: Route = Route::post("auth-session-reauthenticate", "/api/v1/auth/sessions/current/reauthenticate")
    .summary("Reauthenticates the signed-in user")
    .limit(Limit::SignIn)
    .admits(Admission::Owing)
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, PutItem, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::ReauthenticationRequired,
        ErrorCode::UserDoesNotHavePassword,
        ErrorCode::PasswordConfirmationMismatch,
    ])
    .errors(SECOND_FACTOR_ERRORS)
    .needs(&[Need::Hashing]);

/// Exactly one of the fields must be set.
#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Reauthenticate {
    /// The user's password.
    password: Option<Password>,
    /// The six digits from an authenticator app, or a recovery code.
    totp: Option<String>,
    /// A recovery code.
    recovery_code: Option<String>,
    /// A sign-in code that was emailed to the user.
    code: Option<Code>,
    /// The response of one of the user's passkeys.
    passkey: Option<PasskeyResponse>,
}

/// A valid proof, and the writes that use it up.
struct Proof {
    writes: Vec<Write>,
    amr: Amr,
    /// The label of the write that fails if the proof was used or became invalid in the meantime.
    label: Label,
    /// The error if the write with this label fails.
    used: KnownError,
}

pub async fn handle(access: Access<Client>, Input { body, .. }: Input<Reauthenticate>) -> Result<Json<Success>, Error> {
    let current = access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?;
    // Redeeming a second factor or a passkey also changes the user, so sign-in and reauthentication
    // share the code for it.
    match (&body.password, &body.totp, &body.recovery_code, &body.code, &body.passkey) {
        (Some(password), None, None, None, None) => by_password(&access, current, password).await,
        (None, Some(text), None, None, None) => Box::pin(by_second_factor(&access, current, &SecondFactorCode::from_app(text))).await,
        (None, None, Some(text), None, None) => Box::pin(by_second_factor(&access, current, &SecondFactorCode::from_recovery(text))).await,
        (None, None, None, Some(code), None) => by_code(&access, current, code).await?.redeem(&access, current).await,
        (None, None, None, None, Some(given)) => by_passkey(&access, current, given).await,
        _ => {
            let problem = Problems::one("body", "must have exactly one of password, totp, recovery_code, code and passkey");
            Err(ROUTE.schema_error(&problem).into())
        }
    }
}

impl Proof {
    async fn redeem(self, access: &Access<Client>, current: &CurrentUser) -> Result<Json<Success>, Error> {
        let (app, mut writes) = (&access.app, self.writes);
        writes.push(session::reauthenticate(&access.project.id, &current.session, &[self.amr], app.clock.now())?);
        match app.store.transact(writes).await {
            Ok(()) => Ok(Json(SUCCESS)),
            Err(store::Error::Conflict(conflict)) if conflict.is_of(self.label) => Err(self.used.into()),
            Err(error) => Err(error.into()),
        }
    }
}

/// Rejects a credential that was added after the session's last proof.
fn check_age(current: &CurrentUser, since: Option<Timestamp>) -> Result<(), KnownError> {
    if current.session.is_proved_by(since) { Ok(()) } else { Err(KnownError::ReauthenticationRequired) }
}

async fn by_password(access: &Access<Client>, current: &CurrentUser, password: &Password) -> Result<Json<Success>, Error> {
    let (project, user) = (&access.project.id, &current.row.user);
    check_age(current, user.first_password_at)?;
    let failures = Failures::for_old_password(&access.app, project, user.id);
    let attempt = old_password::prove(&failures, access, user, password).await?;
    let writes = vec![user::at_epoch(project, user.id, user.credential_epoch)];
    let proof = Proof { writes, amr: Amr::Pwd, label: Label::User, used: KnownError::PasswordConfirmationMismatch };
    attempt.permit(proof.redeem(access, current)).await
}

async fn by_second_factor(access: &Access<Client>, current: &CurrentUser, given: &SecondFactorCode) -> Result<Json<Success>, Error> {
    let (project, row) = (&access.project.id, &current.row);
    check_age(current, given.since(&row.user))?;
    let failures = Failures::for_second_factor(&access.app, project, row.user.id);
    let (attempt, right) = given.check(access, &row.user, &failures, Event::ProofFailed).await?;
    attempt
        .permit(Box::pin(async {
            // If the user has several apps, the age of the app that shows this code is used.
            check_age(current, right.since())?;
            let proved = session::reauthenticate(project, &current.session, &[Amr::Otp, Amr::Mfa], access.app.clock.now())?;
            given.redeem(access, row, right, vec![proved]).await?;
            Ok(Json(SUCCESS))
        }))
        .await
}

async fn by_passkey(access: &Access<Client>, current: &CurrentUser, given: &PasskeyResponse) -> Result<Json<Success>, Error> {
    let (code, response) = (&given.code, &given.authentication_response);
    let proof = PasskeyProof { access, code, response, attempt: None, failed: Event::ProofFailed };
    optimistic!(|attempt| {
        let proved = proof.check(attempt, Some(current.row.user.id)).await?;
        check_age(current, Some(proved.since))?;
        let session = session::reauthenticate(&access.project.id, &current.session, &proved.amr(&access.project), access.app.clock.now())?;
        proof.redeem(&proved, &proved.user, vec![session]).await.map(|()| Json(SUCCESS))
    })
}

async fn by_code(access: &Access<Client>, current: &CurrentUser, code: &Code) -> Result<Proof, Error> {
    let (project, user) = (&access.project.id, &current.row.user);
    let stored = access.app.store.try_code(project, Purpose::SignIn, code, access.app.clock.now()).await??;
    // The code must be for this user and for a verified sign-in address.
    let signs_in = user.channel_of(&stored.email).is_some_and(|channel| channel.signs_in() && channel.is_verified);
    if stored.user_id != Some(user.id) || !stored.is_of_epoch(user) || !signs_in {
        return Err(CodeRefusal::NotFound.into());
    }
    check_age(current, user.notices.joined_at(&stored.email))?;
    let writes = vec![code::redeem(project, Purpose::SignIn, code), user::at_epoch(project, user.id, user.credential_epoch)];
    Ok(Proof { writes, amr: Amr::Otp, label: Label::Code, used: CodeRefusal::AlreadyUsed.into() })
}
