//! Starts a ceremony. Returns the options for the browser, and a code to send back with the
//! browser's response.

use api::product::{Access, Client};
use crypto::webauthn::client_data::Ceremony;
use errors::{Error, KnownError};
use model::code::Code;
use model::passkey::challenge::Challenge;
use secrecy::ExposeSecret as _;
use serde::Serialize;
use serde_json::Value;
use store::passkey;
use utoipa::ToSchema;
use wire::problem::Problems;

use api::http::Route;

/// The options of a ceremony.
#[derive(Serialize, ToSchema)]
pub struct StartedCeremony {
    /// The options in the JSON form of WebAuthn (`parseCreationOptionsFromJSON`,
    /// `parseRequestOptionsFromJSON`). Published SDKs replace the relying party id.
    #[schema(value_type = Object)]
    options_json: Value,
    /// A code of 45 characters, which must be sent back with the browser's response.
    code: String,
}

/// Checks that the project offers passkeys, and that its settings contain the requested relying
/// party id.
pub(crate) fn check(access: &Access<Client>, rp_id: Option<&str>, route: &Route) -> Result<(), KnownError> {
    let settings = &access.project.config.passkeys;
    if !settings.enabled {
        return Err(KnownError::PasskeyAuthenticationNotEnabled);
    }
    match rp_id {
        Some(id) if !settings.rp_ids.iter().any(|own| own == id) => {
            Err(route.schema_error(&Problems::one("body.rp_id", "must be one of the project's passkey_rp_ids")))
        }
        _ => Ok(()),
    }
}

/// Stores the challenge. Starting a ceremony does not change an account, so the audit trail does
/// not record it.
pub(crate) async fn start(
    access: &Access<Client>,
    ceremony: Ceremony,
    challenge: &Challenge,
    options_json: Value,
) -> Result<StartedCeremony, Error> {
    let secret = access.app.entropy.code();
    let code = secret.expose_secret().to_owned();
    let write = passkey::create_challenge(&access.project.id, ceremony, &Code::new(secret), challenge)?;
    access.app.store.write_unrecorded(write).await?;
    Ok(StartedCeremony { options_json, code })
}
