//! API keys of a project.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::level::Level;

use crate::project::key_permission::KeyPermission;

/// An API key, as stored in the table under its digest.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiKey {
    /// The kind of key, which determines its access level.
    pub kind: KeyKind,
    /// The key set that the key belongs to.
    pub set_id: uuid::Uuid,
    /// When the key expires; absent if it never expires.
    pub expires_at: Option<Timestamp>,
    /// When the key was revoked; absent if the key was not revoked.
    pub revoked_at: Option<Timestamp>,
    /// The permissions of a server key; absent if the key may use every operation of its access
    /// level.
    pub permissions: Option<BTreeSet<KeyPermission>>,
}

/// The kind of an API key, which corresponds to an access level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KeyKind {
    /// A key that gives client access and may be published with the app.
    PublishableClient,
    /// Gives server access.
    SecretServer,
    /// Gives admin access.
    SuperSecretAdmin,
}

impl KeyKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::PublishableClient, Self::SecretServer, Self::SuperSecretAdmin];

    /// The prefix of all keys of this kind.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::PublishableClient => "pck_",
            Self::SecretServer => "ssk_",
            Self::SuperSecretAdmin => "sak_",
        }
    }

    /// The kind of key that gives an access level.
    pub fn of(level: Level) -> Self {
        match level {
            Level::Client => Self::PublishableClient,
            Level::Server => Self::SecretServer,
            Level::Admin => Self::SuperSecretAdmin,
        }
    }

    /// The kind of a key, determined by its prefix; `None` for an unknown prefix.
    pub fn by_prefix(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| text.starts_with(kind.prefix()))
    }
}

impl ApiKey {
    /// Whether the key is of this kind, has not expired and was not revoked.
    pub fn opens(&self, kind: KeyKind, now: Timestamp) -> bool {
        self.kind == kind && self.revoked_at.is_none() && self.expires_at.is_none_or(|time| now < time)
    }

    /// Whether the key may use operations that need this permission.
    pub fn may(&self, permission: KeyPermission) -> bool {
        self.permissions.as_ref().is_none_or(|permissions| permissions.contains(&permission))
    }
}
