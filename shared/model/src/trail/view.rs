//! What administrators and users read of the trail. A user learns what happened to the account, not who works for the project, nor from
//! where.

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{TrailEntryId, UserId};

use crate::place::Place;
use crate::session::Amr;
use crate::trail::{Access, Actor, Entry, Event, Target};

/// An entry of the audit log.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct AuditEntry {
    pub id: TrailEntryId,
    /// When it happened (RFC 3339, UTC); of failed sign-ins, when their minute began.
    #[schema(format = DateTime, example = "2026-01-01T12:00:00.000Z")]
    pub at: String,
    /// Name of the operation.
    #[schema(example = "auth-password-sign-in")]
    pub operation: String,
    /// What it did to an account; empty where the operation says it all.
    pub events: Vec<Event>,
    /// How the user was proved to be there (RFC 8176), of a sign-in.
    pub method: Vec<Amr>,
    /// The access type of the request.
    pub access: Option<Access>,
    /// Who did it.
    pub actor: Actor,
    /// Id of the user whom it is about.
    pub user_id: Option<UserId>,
    /// What else it is about, from the widest to the narrowest.
    pub targets: Vec<Target>,
    /// Names of the fields that the request had; never their values.
    pub fields: Vec<String>,
    /// Where the request came from.
    pub place: Option<Place>,
    /// How often it happened in its minute; 1 but for failed sign-ins.
    pub count: u32,
}

impl From<Entry> for AuditEntry {
    fn from(entry: Entry) -> Self {
        let Entry { id, at, operation, events, method, access, actor, user_id, targets, fields, place, count } = entry;
        Self { id, at: time(at), operation, events, method, access, actor, user_id, targets, fields, place, count }
    }
}

/// Something that happened to the account of a user.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Activity {
    pub id: TrailEntryId,
    /// When it happened (RFC 3339, UTC); of failed sign-ins, when their minute began.
    #[schema(format = DateTime, example = "2026-01-01T12:00:00.000Z")]
    pub at: String,
    /// What happened; empty for other changes of the account.
    pub events: Vec<Event>,
    /// How the user was proved to be there (RFC 8176), of a sign-in.
    pub method: Vec<Amr>,
    /// Who did it.
    pub actor: Role,
    /// Where the request came from; `null` where an administrator or a server sent it.
    pub place: Option<Place>,
    /// How often it happened in its minute; 1 but for failed sign-ins.
    pub count: u32,
}

/// Who did something to an account, as its user may know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    You,
    Administrator,
    Server,
    /// Another user, or nobody who was known.
    Somebody,
}

impl Role {
    fn of(entry: &Entry, user: UserId) -> Self {
        match (entry.actor, entry.access) {
            (Actor::User { user_id, .. }, access) if user_id == user => match access {
                // A request with a server key and the user's token is the server's.
                Some(Access::Server) => Self::Server,
                Some(Access::Admin) => Self::Administrator,
                _ => Self::You,
            },
            (Actor::Operator { .. }, _) | (Actor::Key { .. }, Some(Access::Admin)) => Self::Administrator,
            (Actor::Key { .. } | Actor::System, _) => Self::Server,
            (Actor::User { .. } | Actor::Anonymous, _) => Self::Somebody,
        }
    }
}

impl Activity {
    /// What `user` reads of an entry about it.
    pub fn of(entry: Entry, user: UserId) -> Self {
        let actor = Role::of(&entry, user);
        let Entry { id, at, events, method, place, count, .. } = entry;
        let place = place.filter(|_| matches!(actor, Role::You | Role::Somebody));
        Self { id, at: time(at), events, method, actor, place, count }
    }
}

/// As RFC 3339 has it, always with milliseconds, so that texts sort as times do.
fn time(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_milliseconds_even_if_there_are_none() {
        assert_eq!(time("2026-01-01T12:00:00Z".parse().unwrap()), "2026-01-01T12:00:00.000Z");
        assert_eq!(time("2026-01-01T12:00:00.0719Z".parse().unwrap()), "2026-01-01T12:00:00.071Z");
    }
}
