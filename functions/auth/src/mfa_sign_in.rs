//! `POST /api/v1/auth/mfa/sign-in`: completes a sign-in that is waiting for its second factor.
//!
//! A wrong code does not end the sign-in, but counts against it and against the account. A correct
//! code is accepted once: the attempt, the time step of the code or the remaining recovery codes,
//! and the session are written in one transaction.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Json, Route};
use api::product::code_access::{AttemptCode, CodeAccess};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::App;
use flows::limits::Failures;
use model::code::{Code, Rejected};
use model::limit::Limit;
use model::session::Amr;
use model::trail::Event;
use model::user::User;
use model::user::device::{Device, DeviceToken};
use serde::Serialize;
use store::user::device;
use store::{Label, code};
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::sign_in::notice;
use crate::sign_in::second_factor_code::SecondFactorCode;
use crate::sign_in::tokens::{NewSession, SignedInOrUp};

pub const ROUTE: Route = Route::post("auth-mfa-sign-in", "/api/v1/auth/mfa/sign-in")
    .summary("Completes a sign-in with a code from the authenticator app, or a recovery code")
    .limit(Limit::SignIn)
    .open_to_restricted()
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[ErrorCode::InvalidTotpCode, ErrorCode::InvalidRecoveryCode])
    .hashes_passwords();

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct MfaSignIn {
    /// The `attempt_code` of the `MULTI_FACTOR_AUTHENTICATION_REQUIRED` error.
    code: Code,
    #[deserr(rename = "type")]
    #[schema(rename = "type")]
    factor: Factor,
    /// The six digits that the app shows, or a recovery code. Required for the type `totp`.
    #[deserr(default)]
    totp: Option<String>,
    /// A recovery code. Required for the type `recovery-code`.
    #[deserr(default)]
    recovery_code: Option<String>,
    /// Whether this device need not prove the second factor again for some time, if the project
    /// permits that.
    #[deserr(default)]
    remember_device: bool,
}

#[derive(Serialize, ToSchema)]
pub struct SecondFactorSignedIn {
    #[serde(flatten)]
    signed_in: SignedInOrUp,
    /// The token of the remembered device, for the header `X-Service-Device-Token` of later
    /// sign-ins. Absent unless the request asked for it and the project permits it.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_token: Option<String>,
    /// When the device is forgotten, in milliseconds since the epoch.
    #[serde(skip_serializing_if = "Option::is_none")]
    device_expires_at_millis: Option<i64>,
}

/// A kind of second factor.
#[derive(Deserr, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    #[deserr(rename = "totp")]
    Totp,
    #[deserr(rename = "recovery-code")]
    RecoveryCode,
}

impl MfaSignIn {
    /// The device to remember, with its token.
    fn device(&self, access: &Access<Client>, user: &User) -> Option<(DeviceToken, Device)> {
        let (app, now) = (&access.app, access.app.clock.now());
        let token = DeviceToken::draw(&app.entropy, now);
        let device = Device::remember(user, &token, &access.project.config.second_factor, &access.place, now);
        device.filter(|_| self.remember_device).map(|device| (token, device))
    }

    fn second_factor(&self) -> Result<SecondFactorCode, KnownError> {
        match (&self.factor, &self.totp, &self.recovery_code) {
            (Factor::Totp, Some(text), None) => Ok(SecondFactorCode::of_app(text)),
            (Factor::RecoveryCode, None, Some(text)) => Ok(SecondFactorCode::of_recovery(text)),
            (Factor::Totp, ..) => Err(ROUTE.schema_error(&Problems::one("body", "must have totp, and not recovery_code"))),
            (Factor::RecoveryCode, ..) => Err(ROUTE.schema_error(&Problems::one("body", "must have recovery_code, and not totp"))),
        }
    }
}

pub async fn handle(
    State(app): State<App>,
    CodeAccess { access, hint, .. }: CodeAccess<AttemptCode>,
    Input { body, .. }: Input<MfaSignIn>,
) -> Result<Json<SecondFactorSignedIn>, Error> {
    let given = body.second_factor()?;
    let (project, now) = (&access.project.id, app.clock.now());
    let hinted = hint.as_ref().map(|attempt| (attempt.user_id, Failures::of_second_factor(&app, project, attempt.user_id)));
    let early = async {
        match &hinted {
            Some((user, failures)) => tokio::try_join!(app.store.user(project, *user), failures.look()).map(|(row, ())| row),
            None => Ok(None),
        }
    };
    let (decision, row) = tokio::try_join!(app.store.try_attempt(project, &body.code, now), early)?;
    let attempt = decision?;
    // The row was read early for the user whom the hint names, who need not be the attempt's user.
    let row = match row.filter(|row| row.user.id == attempt.user_id) {
        Some(row) => Some(row),
        None => app.store.user(project, attempt.user_id).await?,
    };
    // Anything that ended the user's sessions or codes has ended this sign-in too.
    let row = row.filter(|row| attempt.is_of_epoch(&row.user)).ok_or(Rejected::NotFound)?;
    // Guesses are counted per attempt. Anybody with the password can start new attempts, so guesses
    // are also counted per account.
    let failures = hinted.filter(|(user, _)| *user == row.user.id).map(|(_, failures)| failures);
    let failures = failures.unwrap_or_else(|| Failures::of_second_factor(&app, project, row.user.id));
    let right = given.check(&access, &row.user, &failures, Event::SignInFailed).await?;

    let amr = attempt.amr.into_iter().chain([Amr::Otp, Amr::Mfa]).collect();
    let session = NewSession::start(&app, &access.project, &row.user, &access.place, amr);
    let mut writes = vec![code::redeem_attempt(project, &body.code)];
    writes.extend(session.writes(&access.project)?);
    writes.extend(notice::write(&app, &access.project, &row.user, &access.place).await?);
    writes.extend(failures.still_allowed());
    let remembered = body.device(&access, &row.user);
    writes.extend(remembered.as_ref().map(|(_, device)| device::create(project, device)).transpose()?);
    match given.redeem(&access, &row, right, writes).await {
        Ok(()) => {
            let signed_in = session.signed_in(&app, &access.project, &row.user);
            Ok(Json(SecondFactorSignedIn {
                signed_in: SignedInOrUp { signed_in, is_new_user: attempt.is_new_user },
                device_token: remembered.as_ref().map(|(token, _)| token.text()),
                device_expires_at_millis: remembered.map(|(_, device)| device.expires_at.as_millisecond()),
            }))
        }
        Err(Error::Store(store::Error::Conflict(conflict))) if conflict.is_of(Label::Code) => Err(Rejected::AlreadyUsed.into()),
        Err(error) => Err(error),
    }
}
