//! `POST /api/v1/auth/mfa/authenticators/verify`: completes the setup of an authenticator app with
//! a code from the app. After the setup, the user needs a second factor to sign in, except on
//! remembered devices and with passkeys that count as two factors. With the first app, the user
//! also gets ten recovery codes, so that a lost phone does not lock the user out.
//!
//! A wrong code does not end the setup, but the number of attempts is limited. The code used for
//! the setup cannot be used again to sign in.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Need, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::password::recovery::RecoveryCode;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::accounts::{ExtraWrites, change_as, redeemed};
use flows::{App, quota};
use model::code::{Code, CodeRefusal};
use model::limit::Limit;
use model::quota::Quota;
use model::user::User;
use model::user::enrolment::{AuthenticatorName, Enrolment};
use model::user::recovery::{self, RecoveryCodes};
use model::user::totp::{self, Authenticator, AuthenticatorView, MAX_AUTHENTICATORS, Totp};
use serde::Serialize;
use store::code;
use utoipa::ToSchema;
use wire::typed::typed;

use crate::sign_in::authenticators::check_proof;

pub const ROUTE: Route = Route::post("auth-mfa-authenticator-verify", "/api/v1/auth/mfa/authenticators/verify")
    .summary("Completes the setup of an authenticator app with one of its codes")
    .limit(Limit::SignIn)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(CODE_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::ReauthenticationRequired,
        ErrorCode::InvalidTotpCode,
        ErrorCode::TooManyAuthenticators,
    ])
    .needs(&[Need::Hashing]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct VerifyAuthenticator {
    /// The `code` from the response that started the setup.
    code: Code,
    /// The six digits that the app shows.
    totp: String,
    /// A name by which the user will recognize the app.
    name: Option<AuthenticatorName>,
}

#[derive(Serialize, ToSchema)]
pub struct AddedAuthenticator {
    #[serde(flatten)]
    authenticator: AuthenticatorView,
    /// Ten codes of six letters and digits. Show the codes to the user now, because they cannot be
    /// read again. `null` if the user already had an authenticator app.
    recovery_codes: Option<Vec<String>>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<VerifyAuthenticator>,
) -> Result<CreatedJson<AddedAuthenticator>, Error> {
    let row = &access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?.row;
    quota::check(&access, Quota::Authenticators)?;
    check_proof(&access, &row.user)?;
    let project = &access.project.id;
    let enrolment = app.store.try_enrolment(project, &body.code, app.clock.now()).await??;
    let added = prove(&access, &row.user, &enrolment, &body)?;
    let codes = if row.user.totp.is_none() { Some(RecoveryCode::draw(&app.entropy)) } else { None };
    let set = match &codes {
        Some(codes) => Some(seal(&access, &row.user, codes).await?),
        None => None,
    };
    let change = |user: &mut User| {
        if !enrolment.is_of(user) {
            return Err(CodeRefusal::NotFound.into());
        }
        check_proof(&access, user)?;
        let has_room = user.totp.as_mut().is_none_or(|totp| totp.add(added.clone()));
        if !has_room {
            return Err(KnownError::TooManyAuthenticators { max: MAX_AUTHENTICATORS }.into());
        }
        user.totp.get_or_insert_with(|| Totp { recovery: set.clone(), ..Totp::from(added.clone()) });
        Ok(ExtraWrites(vec![code::redeem_enrolment(project, &body.code)]))
    };
    let changed = redeemed(change_as(&access, row.clone(), KnownError::UserAuthenticationRequired, change).await)?;
    // Another request may have set up the first app and created the codes in the meantime.
    let is_set = set.is_some() && changed.user.recovery_codes() == set.as_ref();
    let shown = codes.filter(|_| is_set).map(|codes| codes.iter().map(|code| code.text().to_owned()).collect());
    Ok(CreatedJson(AddedAuthenticator { authenticator: AuthenticatorView::from(&added), recovery_codes: shown }))
}

/// Returns the authenticator app to add if the digits in `totp` are correct.
fn prove(access: &Access<Client>, user: &User, enrolment: &Enrolment, body: &VerifyAuthenticator) -> Result<Authenticator, Error> {
    let (app, now) = (&access.app, access.app.clock.now());
    if !enrolment.is_of(user) {
        return Err(CodeRefusal::NotFound.into());
    }
    let owner = totp::owner(&access.project.id, user.id);
    let secret = enrolment.open(&app.sealer, &owner)?;
    let step = secret.check(&typed(&body.totp), now).ok_or(KnownError::InvalidTotpCode)?;
    let name = body.name.as_ref().map(|name| name.0.clone());
    let sealed = Authenticator::seal(&app.sealer, &app.entropy, &owner, &secret, now)?;
    Ok(Authenticator { name, last_step: step, last_used_at: Some(now), ..sealed })
}

async fn seal(access: &Access<Client>, user: &User, codes: &[RecoveryCode]) -> Result<RecoveryCodes, Error> {
    let app = &access.app;
    let hashed = app.hasher.hash_codes(&app.entropy, codes).await;
    let owner = recovery::owner(&access.project.id, user.id);
    Ok(RecoveryCodes::seal(&app.sealer, &app.entropy, &owner, &hashed, app.clock.now())?)
}
