//! The options for `navigator.credentials` in a page (WebAuthn Level 3, §5.4, §5.5).

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::webauthn::public_key::ALGORITHMS;
use serde_json::{Value, json};

use crate::passkey::challenge::Challenge;
use crate::project::Project;
use crate::user::User;

/// A placeholder for the relying party id; published SDKs replace it with the page's host.
pub const RP_ID_PLACEHOLDER: &str = "THIS_VALUE_WILL_BE_REPLACED.example.com";

/// How long the browser prompts the user, in milliseconds.
const TIMEOUT: u32 = 60_000;

/// The name shown for an account without a name or an address.
const NAMELESS: &str = "Account";

/// The options of a registration. `rp_id` must be configured in the project; without it, the
/// options contain [`RP_ID_PLACEHOLDER`].
pub fn for_registration(project: &Project, user: &User, challenge: &Challenge, rp_id: Option<&str>) -> Value {
    let address = user.primary().map(|channel| channel.value.as_str());
    let display_name = user.display_name.as_deref().filter(|name| !name.is_empty());
    let excluded = user.passkeys.iter().map(|passkey| {
        let mut excluded = json!({ "type": "public-key", "id": passkey.credential_id });
        if !passkey.transports.is_empty() {
            excluded["transports"] = json!(passkey.transports);
        }
        excluded
    });
    json!({
        "rp": { "name": project.display_name, "id": rp_id.unwrap_or(RP_ID_PLACEHOLDER) },
        "user": {
            "id": URL_SAFE_NO_PAD.encode(user.id.to_string()),
            // Password managers use `name` to distinguish accounts.
            "name": address.or(display_name).unwrap_or(NAMELESS),
            "displayName": display_name.or(address).unwrap_or(NAMELESS),
        },
        "challenge": challenge.bytes,
        "pubKeyCredParams": ALGORITHMS.map(|algorithm| json!({ "alg": algorithm, "type": "public-key" })),
        "timeout": TIMEOUT,
        "excludeCredentials": excluded.collect::<Vec<_>>(),
        "authenticatorSelection": {
            "residentKey": "required",
            "requireResidentKey": true,
            "userVerification": project.config.passkeys.user_verification,
        },
        "attestation": "none",
        "extensions": { "credProps": true },
    })
}

/// The options of an authentication. The options do not list credentials, so they can be used
/// before the user is known, and for autofill in a form.
pub fn for_authentication(project: &Project, challenge: &Challenge, rp_id: Option<&str>) -> Value {
    json!({
        "rpId": rp_id.unwrap_or(RP_ID_PLACEHOLDER),
        "challenge": challenge.bytes,
        "allowCredentials": [],
        "timeout": TIMEOUT,
        "userVerification": project.config.passkeys.user_verification,
    })
}
