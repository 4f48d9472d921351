//! A user's passkey: a WebAuthn credential. § refers to the sections of Web Authentication Level 3
//! (W3C).

use crypto::webauthn::public_key::PublicKey;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::PasskeyId;

use crate::quota::Quota;
use crate::text::bytes::Bytes;
use crate::text::line;

/// The maximum number of passkeys per user. The largest passkeys take almost 4 KB each.
pub const MAX_PASSKEYS: usize = Quota::Passkeys.max();
/// The maximum length of a name, in characters.
pub const MAX_NAME: usize = 64;

/// A passkey of a user.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passkey {
    /// The id of the passkey.
    pub id: PasskeyId,
    /// The id that the authenticator gave the credential.
    pub credential_id: Bytes,
    /// The key that verifies the signatures of the passkey.
    pub public_key: PublicKey,
    /// The relying party for which the passkey was created.
    pub rp_id: String,
    /// The name that the user sees.
    pub name: String,
    /// When the passkey was registered.
    pub created_at: Timestamp,
    /// When the passkey was last used to sign in or to reauthenticate; absent if it was never used.
    pub last_used_at: Option<Timestamp>,
    /// How the browser can reach the authenticator, such as `internal` or `usb`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transports: Vec<String>,
    /// The highest signature counter received; 0 if the authenticator does not have a counter.
    #[serde(default)]
    pub sign_count: u32,
    /// Whether the passkey can be synchronized with other devices.
    #[serde(default)]
    pub is_backup_eligible: bool,
    /// Whether the passkey is synchronized or backed up.
    #[serde(default)]
    pub is_backed_up: bool,
    /// Whether the authenticator verified the user when the passkey was registered.
    #[serde(default)]
    pub was_user_verified: bool,
    /// The model that the authenticator claims to be; the nil UUID if unknown.
    #[serde(default)]
    pub aaguid: Uuid,
    /// When the signature counter first failed to grow, which suggests a copy of the authenticator.
    /// Absent if the counter has always grown, or if there is no counter.
    pub clone_suspected_at: Option<Timestamp>,
}

/// A name of a passkey: 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 64, example = "Ada's laptop")]
pub struct PasskeyName(pub String);

wire::deserr_from!(PasskeyName, String, |text| {
    let text = text.trim();
    line::check(text, 1..=MAX_NAME).map(|()| Self(text.to_owned()))
});

/// Why a change to a user's passkeys is refused. A refused change leaves the user unchanged, except
/// that [`Self::Cloned`] is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The user does not have this passkey.
    #[error("the user does not have this passkey")]
    NotFound,
    /// The user already has this passkey.
    #[error("this passkey is already registered")]
    Duplicate,
    /// The user already has [`MAX_PASSKEYS`] passkeys.
    #[error("the user has reached the maximum of {MAX_PASSKEYS} passkeys")]
    TooMany,
    /// The signature counter did not grow, so the authenticator may have been copied.
    #[error("the signature counter of the passkey did not increase, so the passkey may have been copied: remove it")]
    Cloned,
}

impl Passkey {
    /// Whether both passkeys are the same credential.
    pub fn is_same(&self, other: &Self) -> bool {
        self.credential_id == other.credential_id
    }

    /// Whether a signature counter suggests that another authenticator uses the same key.
    /// Authenticators without a counter always send 0 (§6.1.1, §7.2).
    pub(crate) fn is_cloned_by(&self, sign_count: u32) -> bool {
        (sign_count > 0 || self.sign_count > 0) && sign_count <= self.sign_count
    }
}

/// A verified use of a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assertion {
    /// The id of the credential.
    pub credential_id: Bytes,
    /// The signature counter.
    pub sign_count: u32,
    /// Whether the passkey can be synchronized with other devices.
    pub is_backup_eligible: bool,
    /// Whether the passkey is synchronized or backed up.
    pub is_backed_up: bool,
    /// Whether the authenticator verified the user.
    pub is_user_verified: bool,
}
