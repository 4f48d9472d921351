//! The owners of API keys.

use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;
use wire::id::{TeamId, UserId};

/// The owner of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner {
    /// A user.
    User(UserId),
    /// A team.
    Team(TeamId),
}

/// The kind of a key's owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum OwnerKind {
    /// A user.
    User,
    /// A team.
    Team,
}

impl Owner {
    /// The kind of owner.
    pub fn kind(self) -> OwnerKind {
        match self {
            Self::User(_) => OwnerKind::User,
            Self::Team(_) => OwnerKind::Team,
        }
    }

    pub(crate) fn uuid(self) -> Uuid {
        match self {
            Self::User(id) => id.uuid(),
            Self::Team(id) => id.uuid(),
        }
    }
}

impl OwnerKind {
    /// The name of the kind in keys and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Team => "team",
        }
    }
}
