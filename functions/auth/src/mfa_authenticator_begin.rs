//! `POST /api/v1/auth/mfa/authenticators`: starts the setup of an authenticator app for the
//! signed-in user. The response contains the secret for the app. Nothing changes for the user until
//! a code proves that the app has the secret (`mfa_authenticator_verify`).

use api::http::TableAction::{BatchGetItem, PutItem};
use api::http::{CreatedJson, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::totp::TotpSecret;
use errors::{Error, ErrorCode, KnownError};
use flows::{App, quota};
use model::code::Code;
use model::limit::Limit;
use model::quota::Quota;
use model::user::User;
use model::user::enrolment::Enrolment;
use model::user::totp::{self, MAX_AUTHENTICATORS};
use serde::Serialize;
use store::code;
use utoipa::ToSchema;

use crate::sign_in::authenticators::check_proof;

pub const ROUTE: Route = Route::post("auth-mfa-authenticator-begin", "/api/v1/auth/mfa/authenticators")
    .summary("Starts the setup of an authenticator app")
    .limit(Limit::SignIn)
    .table(&[BatchGetItem, PutItem])
    .errors(&[ErrorCode::UserAuthenticationRequired, ErrorCode::ReauthenticationRequired, ErrorCode::TooManyAuthenticators]);

#[derive(Serialize, ToSchema)]
pub struct NewAuthenticator {
    /// The code that identifies this setup in the request that completes it.
    code: String,
    /// The secret in base32, for users who cannot scan the URL.
    secret_base32: String,
    /// The content of the QR code to scan with an authenticator app.
    otpauth_url: String,
    /// The time when `code` expires, in milliseconds since the epoch. The code is valid for ten
    /// minutes.
    expires_at_millis: i64,
}

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<CreatedJson<NewAuthenticator>, Error> {
    let user = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row.user;
    quota::check(&access, Quota::Authenticators)?;
    check_proof(&access, user)?;
    if user.totp.as_ref().is_some_and(|totp| totp.apps().count() >= MAX_AUTHENTICATORS) {
        return Err(KnownError::TooManyAuthenticators { max: MAX_AUTHENTICATORS }.into());
    }
    let (project, secret) = (&access.project, TotpSecret::draw(&app.entropy));
    let owner = totp::owner(&project.id, user.id);
    let enrolment = Enrolment::seal(&app.sealer, &app.entropy, &owner, &secret, (user, app.clock.now()))?;
    let code = Code::new(app.entropy.code());
    app.store.write(code::create_enrolment(&project.id, &code, &enrolment)?).await?;
    Ok(CreatedJson(NewAuthenticator {
        code: code.text().to_owned(),
        secret_base32: secret.base32(),
        otpauth_url: secret.url(&project.display_name, &account(user)),
        expires_at_millis: enrolment.expires_at.as_millisecond(),
    }))
}

/// The account name that the app shows.
fn account(user: &User) -> String {
    let email = user.primary().map(|channel| channel.value.to_string());
    email.or_else(|| user.display_name.clone()).unwrap_or_else(|| user.id.to_string())
}
