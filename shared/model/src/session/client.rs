//! Sessions of OAuth clients that a user has signed in to.

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use wire::id::{OauthClientId, SessionId};

use crate::session::resource_scopes::ResourceScopes;
use crate::session::rotation::Rotation;
use crate::session::scope::{Scope, Scopes};

/// The value of `acr_values` and `acr` for two factors.
pub const ACR_MFA: &str = "urn:gatelet:mfa";
/// The value of `acr` for one factor.
pub const ACR_SINGLE: &str = "urn:gatelet:1fa";

/// The additional data of an OAuth client's session.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientSession {
    /// The client.
    pub id: OauthClientId,
    /// The client's name, for lists of sessions.
    pub name: String,
    /// The scopes that the user has granted for this session, other than those of resources.
    pub scopes: Scopes,
    /// The resources that the client may use in this session.
    #[serde(default, skip_serializing_if = "ResourceScopes::is_empty")]
    pub resources: ResourceScopes,
    /// The serial of the user's grant; the session ends when the grant ends. Absent if the client
    /// belongs to the project itself.
    pub grant: Option<Uuid>,
    /// The session in which the user granted the request.
    pub begun_in: SessionId,
    /// The rotation of the refresh token; absent if the session does not have a refresh token.
    pub rotation: Option<Rotation>,
}

impl ClientSession {
    /// Whether the client may use the project's API on behalf of the user, because the client
    /// belongs to the project itself.
    pub fn is_first_party(&self) -> bool {
        self.grant.is_none()
    }

    /// Whether the session has a refresh token.
    pub fn is_offline(&self) -> bool {
        self.scopes.has(Scope::OfflineAccess)
    }
}
