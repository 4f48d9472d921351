//! Keys of items that are read together: projects, API keys, users and teams.

use crypto::digest::Digest;
use secrecy::{ExposeSecret as _, SecretString};
use wire::id::{ProjectId, TeamId, UserId};

use crate::table::Key;

/// The key of a project's item.
pub fn project_key(project: &ProjectId) -> Key {
    Key::new(format!("P#{project}"), "PROJECT")
}

/// The key of an API key's item.
pub fn api_key_key(project: &ProjectId, key: &SecretString) -> Key {
    key_key(project, &Digest::of(key.expose_secret()))
}

/// The key of an API key's item, from the digest of the API key.
pub fn key_key(project: &ProjectId, digest: &Digest) -> Key {
    Key::new(format!("P#{project}"), format!("KEY#{digest}"))
}

/// The key of a user's item.
pub fn user_key(project: &ProjectId, id: UserId) -> Key {
    Key::new(format!("U#{project}#{id}"), "USER")
}

/// The key of a team's item.
pub fn team_key(project: &ProjectId, team: TeamId) -> Key {
    Key::new(format!("T#{project}#{team}"), "TEAM")
}
