//! `POST /api/v1/auth/mfa/sign-in`: completes a sign-in with a second factor.
//!
//! A wrong proof does not end the sign-in, but the number of attempts is limited. Wrong codes are
//! also counted per account, because codes, unlike passkey signatures, can be guessed. A correct
//! proof is accepted only once. One transaction writes the attempt, the session, and the item that
//! the proof uses up: the time step of the code, the recovery code or the passkey's challenge.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Admission, Json, NamedItem, Need, Route};
use api::product::code_access::{AttemptCode, CodeAccess};
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, KnownError};
use flows::App;
use flows::accounts::redeemed;
use flows::context::Scope;
use flows::limits::Failures;
use model::code::{Code, CodeRefusal};
use model::limit::Limit;
use model::quota::Quota;
use model::session::Amr;
use model::sign_in::second_factor::MfaAttempt;
use model::trail::Event;
use model::user::User;
use model::user::device::{Device, DeviceToken};
use serde::Serialize;
use store::user::device;
use store::{Write, code, optimistic};
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::oauth::{kept_tokens, pending};
use crate::passkeys::proof::{PasskeyProof, PasskeyResponse};
use crate::sign_in::second_factor_code::{SECOND_FACTOR_ERRORS, SecondFactorCode};
use crate::sign_in::tokens::{NewSession, SignInOrUpTokens};
use crate::sign_in::{notice, required_teams};

pub const ROUTE: Route = Route::post("auth-mfa-sign-in", "/api/v1/auth/mfa/sign-in")
    .summary("Completes a sign-in with a code from the authenticator app, a recovery code or a passkey")
    .limit(Limit::SignIn)
    .admits(Admission::Restricted)
    .table(&[BatchGetItem, ConditionCheckItem, DeleteItem, GetItem, PutItem, Query, UpdateItem])
    .reads(&[NamedItem::PasskeyProof])
    .errors(CODE_ERRORS)
    .errors(SECOND_FACTOR_ERRORS)
    .needs(&[Need::Hashing]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct MfaSignIn {
    /// The `attempt_code` of the `MULTI_FACTOR_AUTHENTICATION_REQUIRED` error.
    code: Code,
    #[deserr(rename = "type")]
    #[schema(rename = "type")]
    factor: Factor,
    /// The six digits that the app shows, or a recovery code. Required for the type `totp`.
    totp: Option<String>,
    /// A recovery code. Required for the type `recovery-code`.
    recovery_code: Option<String>,
    /// The response of one of the user's passkeys to a challenge for this `attempt_code`. Required
    /// for the type `passkey`.
    passkey: Option<PasskeyResponse>,
    /// Whether to remember this device, if the project permits it. Until the device expires,
    /// sign-ins on it do not need a second factor.
    #[deserr(default)]
    remember_device: bool,
}

#[wire::sparse]
#[derive(Serialize, ToSchema)]
#[schema(as = SecondFactorSignedIn)]
pub struct SecondFactorTokens {
    #[serde(flatten)]
    signed_in: SignInOrUpTokens,
    /// The token of the remembered device, which must be sent in the header
    /// `X-Service-Device-Token` at later sign-ins. Absent unless the request set `remember_device`
    /// and the project permits it.
    device_token: Option<String>,
    /// The time when the device expires, in milliseconds since the epoch.
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
    #[deserr(rename = "passkey")]
    Passkey,
}

/// The second factor that a request presents.
enum FactorInput<'a> {
    Code(SecondFactorCode),
    Passkey(&'a PasskeyResponse),
}

/// A sign-in in progress.
struct Completion<'a> {
    access: &'a Access<Client>,
    attempt: &'a MfaAttempt,
    session: NewSession,
    /// The device to remember, and its token. `None` unless the request asks to remember the device
    /// and the project permits it.
    remembered: Option<(DeviceToken, Device)>,
}

impl MfaSignIn {
    fn given(&self) -> Result<FactorInput<'_>, KnownError> {
        let needed = match (&self.factor, &self.totp, &self.recovery_code, &self.passkey) {
            (Factor::Totp, Some(text), None, None) => return Ok(FactorInput::Code(SecondFactorCode::from_app(text))),
            (Factor::RecoveryCode, None, Some(text), None) => return Ok(FactorInput::Code(SecondFactorCode::from_recovery(text))),
            (Factor::Passkey, None, None, Some(response)) => return Ok(FactorInput::Passkey(response)),
            (Factor::Totp, ..) => "must have totp, but not recovery_code or passkey",
            (Factor::RecoveryCode, ..) => "must have recovery_code, but not totp or passkey",
            (Factor::Passkey, ..) => "must have passkey, but not totp or recovery_code",
        };
        Err(ROUTE.schema_error(&Problems::one("body", needed)))
    }
}

impl<'a> Completion<'a> {
    fn start(access: &'a Access<Client>, attempt: &'a MfaAttempt, user: &User, body: &MfaSignIn, factor: Amr) -> Self {
        let (app, project, now) = (&access.app, &access.project, access.app.clock.now());
        let amr = attempt.amr.iter().copied().chain([factor, Amr::Mfa]).collect();
        let token = DeviceToken::draw(&app.entropy, now);
        let device = Device::remember(user, &token, &project.config.second_factor, &access.place, now);
        Self {
            access,
            attempt,
            session: NewSession::start(app, project, user, &access.place, amr).with_code(app, attempt.of_code.as_ref()),
            remembered: device.filter(|_| body.remember_device).map(|device| (token, device)),
        }
    }

    async fn writes(&self, user: &User, code: &Code) -> Result<Vec<Write>, Error> {
        let (app, project) = (&self.access.app, &self.access.project);
        let mut writes = vec![code::redeem_attempt(&project.id, code)];
        writes.extend(self.session.writes(project)?);
        writes.extend(notice::write(app, project, user, &self.access.place).await?);
        writes.extend(self.remembered.as_ref().map(|(_, device)| device::create(&project.id, device)).transpose()?);
        Ok(writes)
    }

    /// Links the provider account and stores the provider's tokens, if the sign-in deferred this
    /// until the second factor. If the user has too many devices, forgets the oldest devices. If
    /// forgetting fails, the next sign-in that remembers a device tries again.
    async fn follow_up(&self) {
        let scope = Scope { app: &self.access.app, project: &self.access.project, place: &self.access.place };
        pending::attach(scope, self.attempt).await;
        kept_tokens::store_completed(scope, self.attempt).await;
        if let Some((_, device)) = &self.remembered
            && let Err(error) = scope.app.store.forget_oldest_devices(&scope.project.id, device.user_id, Quota::Devices.max()).await
        {
            tracing::warn!(%error, user = %device.user_id, "the oldest remembered devices could not be forgotten");
        }
    }

    async fn answer(self, mut user: User) -> Result<SecondFactorTokens, Error> {
        required_teams::renew(&self.access.app, &self.access.project, &mut user).await?;
        let signed_in = self.session.signed_in(&self.access.app, &self.access.project, &user).await?;
        Ok(SecondFactorTokens {
            signed_in: SignInOrUpTokens { signed_in, is_new_user: self.attempt.is_new_user },
            device_token: self.remembered.as_ref().map(|(token, _)| token.text()),
            device_expires_at_millis: self.remembered.map(|(_, device)| device.expires_at.as_millisecond()),
        })
    }
}

pub async fn handle(
    State(app): State<App>,
    access: CodeAccess<AttemptCode>,
    Input { body, .. }: Input<MfaSignIn>,
) -> Result<Json<SecondFactorTokens>, Error> {
    match body.given()? {
        FactorInput::Code(given) => Box::pin(by_code(&app, &access, &body, &given)).await.map(Json),
        FactorInput::Passkey(given) => by_passkey(&app, &access.access, &body, given).await.map(Json),
    }
}

async fn by_code(
    app: &App,
    CodeAccess { access, code }: &CodeAccess<AttemptCode>,
    body: &MfaSignIn,
    given: &SecondFactorCode,
) -> Result<SecondFactorTokens, Error> {
    let project = &access.project.id;
    // Wrong codes are counted per attempt and also per account, because anyone with the password
    // can start new attempts.
    let account = async |attempt: MfaAttempt| app.store.user(project, attempt.user_id).await;
    let (attempt, row) = code.prove(app.store.try_attempt(project, &body.code, app.clock.now()), account).await?;
    // Any change that ended the user's sessions or codes has also ended this sign-in.
    let row = row.filter(|row| attempt.is_of_epoch(&row.user)).ok_or(CodeRefusal::NotFound)?;
    let failures = Failures::for_second_factor(app, project, attempt.user_id);
    let (counted, right) = given.check(access, &row.user, &failures, Event::SignInFailed).await?;

    let completion = Completion::start(access, &attempt, &row.user, body, Amr::Otp);
    let redeem = async {
        let writes = completion.writes(&row.user, &body.code).await?;
        redeemed(given.redeem(access, &row, right, writes).await)
    };
    counted.permit(Box::pin(redeem)).await?;
    completion.follow_up().await;
    completion.answer(row.user).await
}

async fn by_passkey(app: &App, access: &Access<Client>, body: &MfaSignIn, given: &PasskeyResponse) -> Result<SecondFactorTokens, Error> {
    let attempt = app.store.try_attempt(&access.project.id, &body.code, app.clock.now()).await??;
    if !attempt.takes_passkey() {
        let message = "a passkey was the first factor of this sign-in: send a code instead".to_owned();
        return Err(KnownError::PasskeyAuthenticationFailed { message }.into());
    }
    let (code, response) = (&given.code, &given.authentication_response);
    let proof = PasskeyProof { access, code, response, attempt: Some(&body.code), failed: Event::SignInFailed };
    optimistic!(|nth| {
        let proved = proof.check(nth, Some(attempt.user_id)).await?;
        // Any change that ended the user's sessions or codes has also ended this sign-in.
        if !attempt.is_of_epoch(&proved.user) {
            return Err(CodeRefusal::NotFound.into());
        }
        let completion = Completion::start(access, &attempt, &proved.user, body, Amr::Pop);
        let writes = completion.writes(&proved.user, &body.code).await?;
        proof.redeem(&proved, &proved.user, writes).await?;
        completion.follow_up().await;
        completion.answer(proved.user.clone()).await
    })
}
