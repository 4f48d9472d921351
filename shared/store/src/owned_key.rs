//! API keys of users and teams, stored in the items of their owners ([`crate::user`],
//! [`crate::team`]) at about 300 bytes a key.
//!
//! Checking a key reads the owner's item in the authentication round trip, so it costs one unit for
//! each 4 KB of the item, without another round trip. At most once an hour for each key, checking
//! the key also writes the item, to record the use.

use model::owned_key::{OwnedKeys, Owner};
use wire::id::ProjectId;

use crate::keys::{team_key, user_key};
use crate::table::{Error, Key, Store, Write};
use crate::team::{self, TeamRow};
use crate::user::{self, UserRow};

/// The key of an owner's item.
pub fn owner_key(project: &ProjectId, owner: Owner) -> Key {
    match owner {
        Owner::User(id) => user_key(project, id),
        Owner::Team(id) => team_key(project, id),
    }
}

/// An owner's item with its version; changes are conditional on the version.
#[derive(Debug, Clone)]
pub enum OwnerRow {
    /// A user.
    User(Box<UserRow>),
    /// A team.
    Team(Box<TeamRow>),
}

impl OwnerRow {
    /// The API keys of the owner.
    pub fn keys(&self) -> &OwnedKeys {
        match self {
            Self::User(row) => &row.user.api_keys,
            Self::Team(row) => &row.team.api_keys,
        }
    }

    /// Writes the owner with these API keys, if the owner has not changed since it was read.
    pub fn with_keys(&self, project: &ProjectId, keys: OwnedKeys) -> Result<Write, Error> {
        match self {
            Self::User(row) => user::replace(project, &model::user::User { api_keys: keys, ..row.user.clone() }, row.version),
            Self::Team(row) => team::replace(project, &model::team::Team { api_keys: keys, ..row.team.clone() }, row.version),
        }
    }
}

impl Store {
    /// The owner with this id; `None` if the owner does not exist or is a team that is being
    /// deleted.
    pub async fn key_owner(&self, project: &ProjectId, owner: Owner) -> Result<Option<OwnerRow>, Error> {
        Ok(match owner {
            Owner::User(id) => self.user(project, id).await?.map(|row| OwnerRow::User(Box::new(row))),
            Owner::Team(id) => self.team(project, id).await?.map(|row| OwnerRow::Team(Box::new(row))),
        })
    }
}
