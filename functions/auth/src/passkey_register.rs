//! `POST /api/v1/auth/passkey/register`: registers a passkey that the signed-in user's browser has
//! created.
//!
//! The challenge is redeemed in the transaction that adds the passkey. A response therefore cannot
//! register two passkeys, and a failed request does not use up the challenge.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use crypto::webauthn::client_data::Ceremony;
use deserr::Deserr;
use errors::{CODE_ERRORS, Error, ErrorCode, KnownError};
use flows::accounts::{ExtraWrites, change_as, redeemed};
use flows::{App, quota};
use model::code::{Code, CodeRefusal};
use model::limit::Limit;
use model::passkey::ceremony::register;
use model::passkey::challenge::Challenge;
use model::quota::Quota;
use model::user::passkey::PasskeyName;
use serde::Serialize;
use serde_json::Value;
use store::{passkey, session};
use utoipa::ToSchema;
use wire::id::PasskeyId;

use crate::passkeys::change::refusal;
use crate::sign_in::authenticators::check_proof;

pub const ROUTE: Route = Route::post("auth-passkey-register", "/api/v1/auth/passkey/register")
    .summary("Registers a passkey of the signed-in user")
    .limit(Limit::Code)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::Challenge(Ceremony::Registration)])
    .errors(CODE_ERRORS)
    .errors(&[
        ErrorCode::UserAuthenticationRequired,
        ErrorCode::PasskeyAuthenticationNotEnabled,
        ErrorCode::ReauthenticationRequired,
        ErrorCode::PasskeyRegistrationFailed,
        ErrorCode::TooManyPasskeys,
    ]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct RegisterPasskey {
    /// The code that was returned with the options.
    code: Code,
    /// The browser's `RegistrationResponseJSON`.
    #[schema(value_type = Object)]
    credential: Value,
    /// A name by which the user will recognize the passkey. The default is the name of the
    /// authenticator's model if the model is common, and otherwise `Passkey`.
    name: Option<PasskeyName>,
}

#[derive(Serialize, ToSchema)]
pub struct RegisteredPasskey {
    /// The id of the credential. Published SDKs require this field name.
    user_handle: String,
    passkey_id: PasskeyId,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<RegisterPasskey>,
) -> Result<Json<RegisteredPasskey>, Error> {
    let current = access.user.as_ref().ok_or(KnownError::UserAuthenticationRequired)?;
    quota::check(&access, Quota::Passkeys)?;
    let row = current.row.clone();
    let (project, now) = (&access.project, app.clock.now());
    let challenge = access.prefetched.challenge(&project.id, Ceremony::Registration, &body.code).await?;
    let challenge = Challenge::check(challenge.filter(|challenge| challenge.is_of(&row.user)), now)?;
    if !project.config.passkeys.enabled {
        return Err(KnownError::PasskeyAuthenticationNotEnabled.into());
    }
    let mut passkey = register(project, &app.settings.own_pages, &challenge, &body.credential, app.entropy.uuid().into(), now)
        .map_err(|failed| KnownError::PasskeyRegistrationFailed { message: failed.to_string() })?;
    if let Some(name) = body.name {
        passkey.name = name.0;
    }
    let changed = change_as(&access, row, KnownError::UserAuthenticationRequired, |user| {
        // The user may have been read again since the challenge was checked.
        if !challenge.is_of(user) {
            return Err(CodeRefusal::NotFound.into());
        }
        check_proof(&access, user)?;
        user.add_passkey(passkey.clone()).map_err(refusal)?;
        let mut writes = vec![passkey::redeem_challenge(&project.id, Ceremony::Registration, &body.code)];
        if project.config.passkeys.is_two_factors(passkey.was_user_verified) && current.session.proved_one_factor() {
            writes.push(session::gain_factor(&project.id, &current.session)?);
        }
        Ok(ExtraWrites(writes))
    });
    redeemed(changed.await)?;
    Ok(Json(RegisteredPasskey { user_handle: passkey.credential_id.to_string(), passkey_id: passkey.id }))
}
