//! Sessions of OAuth clients that a user has signed in to.

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wire::id::{OauthClientId, SessionId};

use crate::session::rotation::Rotation;
use crate::session::scope::{Scope, Scopes};

/// The value of `acr_values` and `acr` for two factors.
pub const ACR_MFA: &str = "urn:gatelet:mfa";
/// The value of `acr` for one factor.
pub const ACR_SINGLE: &str = "urn:gatelet:1fa";

/// What a session of a client has beside what every session has.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSession {
    /// The client.
    pub id: OauthClientId,
    /// The client's name, for lists of sessions.
    pub name: String,
    /// What the user has granted for this session.
    pub scopes: Scopes,
    /// The serial of the user's grant: the session ends with it. Absent for a client of the project
    /// itself.
    pub grant: Option<Uuid>,
    /// The session in which the user decided.
    pub begun_in: SessionId,
    /// The rotation of the refresh token; absent in a session without one.
    pub rotation: Option<Rotation>,
}

impl ClientSession {
    /// Whether the client may use the API of the project in the user's name: a client of the
    /// project itself.
    pub fn is_first_party(&self) -> bool {
        self.grant.is_none()
    }

    /// Whether the session has a refresh token.
    pub fn is_offline(&self) -> bool {
        self.scopes.has(Scope::OfflineAccess)
    }
}
