//! A passkey in responses.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::{PasskeyId, UserId};

use crate::user::passkey::Passkey;

/// A passkey in responses, without its public key.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct PasskeyRead {
    /// The id of the passkey.
    pub id: PasskeyId,
    /// The user who has the passkey.
    pub user_id: UserId,
    /// The name that the user sees.
    #[schema(example = "iCloud Keychain")]
    pub name: String,
    /// The domain to which the passkey belongs, which is its relying party id.
    #[schema(example = "example.com")]
    pub rp_id: String,
    /// Milliseconds since the Unix epoch.
    pub created_at_millis: i64,
    /// Milliseconds since the Unix epoch; `null` if the passkey was never used.
    pub last_used_at_millis: Option<i64>,
    /// How browsers reach the authenticator, such as `internal`, `hybrid` or `usb`.
    pub transports: Vec<String>,
    /// Whether the passkey is synchronized between devices or backed up.
    pub backed_up: bool,
    /// The model that the authenticator claims to be; the nil UUID if unknown.
    pub aaguid: Uuid,
    /// Whether the authenticator may have been copied: its signature counter has failed to grow at
    /// least once.
    pub clone_suspected: bool,
}

impl PasskeyRead {
    /// A user's passkey.
    pub fn of(user_id: UserId, passkey: &Passkey) -> Self {
        Self {
            id: passkey.id,
            user_id,
            name: passkey.name.clone(),
            rp_id: passkey.rp_id.clone(),
            created_at_millis: passkey.created_at.as_millisecond(),
            last_used_at_millis: passkey.last_used_at.map(jiff::Timestamp::as_millisecond),
            transports: passkey.transports.clone(),
            backed_up: passkey.is_backed_up,
            aaguid: passkey.aaguid,
            clone_suspected: passkey.clone_suspected_at.is_some(),
        }
    }
}
