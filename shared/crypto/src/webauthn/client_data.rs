//! Client data (Web Authentication Level 3, §5.8.1): the browser's statement about the page that
//! requested the passkey.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;

use crate::webauthn::Refusal;

/// A WebAuthn ceremony: what the page asked the browser to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ceremony {
    /// To create a passkey.
    Registration,
    /// To sign with a passkey.
    Authentication,
}

impl Ceremony {
    fn client_data_type(self) -> &'static str {
        match self {
            Self::Registration => "webauthn.create",
            Self::Authentication => "webauthn.get",
        }
    }
}

/// Client data, checked for the expected ceremony and challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientData {
    /// The origin of the page, which the caller must check.
    pub origin: String,
}

#[derive(Deserialize)]
struct CollectedClientData {
    r#type: String,
    challenge: String,
    origin: String,
    #[serde(default, rename = "crossOrigin")]
    cross_origin: Option<bool>,
}

impl ClientData {
    /// Reads client data, and checks everything except the origin (§7.1 steps 5 to 11, §7.2 steps 9
    /// to 14). Pages in frames of other origins are refused: the page around the frame could trick
    /// people into confirming something that they do not see.
    pub fn read(json: &[u8], ceremony: Ceremony, challenge: &[u8]) -> Result<Self, Refusal> {
        let json = json.strip_prefix(b"\xef\xbb\xbf").unwrap_or(json);
        let data: CollectedClientData = serde_json::from_slice(json).map_err(|_| Refusal::Malformed("clientDataJSON"))?;
        if data.r#type != ceremony.client_data_type() {
            return Err(Refusal::WrongType);
        }
        if URL_SAFE_NO_PAD.decode(&data.challenge).ok().as_deref() != Some(challenge) {
            return Err(Refusal::WrongChallenge);
        }
        if data.cross_origin == Some(true) {
            return Err(Refusal::CrossOrigin);
        }
        Ok(Self { origin: data.origin })
    }
}
