//! The audit trail in responses to administrators and to users. Users see what happened to their
//! account, but not which administrator caused it, or from where.

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
    /// The id of the entry.
    pub id: TrailEntryId,
    /// When the event happened (RFC 3339, UTC); for failed sign-ins and proofs and for rejected
    /// sign-ups, which are counted per minute, when the minute began.
    #[schema(format = DateTime, example = "2026-01-01T12:00:00.000Z")]
    pub at: String,
    /// The name of the operation.
    #[schema(example = "auth-password-sign-in")]
    pub operation: String,
    /// What happened to the account; empty if the name of the operation is sufficient.
    pub events: Vec<Event>,
    /// For a sign-in or a reauthentication, how the user authenticated (RFC 8176).
    pub method: Vec<Amr>,
    /// The access level of the request; `null` if the operation does not require access, and for
    /// work by the system.
    pub access: Option<Access>,
    /// Who caused the event.
    pub actor: Actor,
    /// The user of the affected account; `null` if the event does not affect an account.
    pub user_id: Option<UserId>,
    /// Other targets: first the targets in the path, in their order there, such as a team and then
    /// a permission in the team.
    pub targets: Vec<Target>,
    /// The names of the fields in the request, without their values.
    pub fields: Vec<String>,
    /// Where the request came from; `null` for work by the system and for rejected sign-ups.
    pub place: Option<Place>,
    /// How often the event happened; above 1 only for failed sign-ins and proofs and for rejected
    /// sign-ups.
    pub count: u32,
}

impl From<Entry> for AuditEntry {
    fn from(entry: Entry) -> Self {
        let Entry { id, at, operation, events, method, access, actor, user_id, targets, fields, place, count, .. } = entry;
        Self { id, at: time(at), operation, events, method, access, actor, user_id, targets, fields, place, count }
    }
}

/// An event in a user's account.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Activity {
    /// The id of the entry.
    pub id: TrailEntryId,
    /// When the event happened (RFC 3339, UTC); for failed sign-ins and proofs, which are counted
    /// per minute, when the minute began.
    #[schema(format = DateTime, example = "2026-01-01T12:00:00.000Z")]
    pub at: String,
    /// What happened to the account; empty for changes without an event.
    pub events: Vec<Event>,
    /// For a sign-in or a reauthentication, how the user authenticated (RFC 8176).
    pub method: Vec<Amr>,
    /// Who caused the event.
    pub actor: Role,
    /// Where the request came from; `null` if an administrator or a server sent it.
    pub place: Option<Place>,
    /// How often the event happened; above 1 only for failed sign-ins and proofs.
    pub count: u32,
}

/// Who acted on an account, as shown to the account's user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// The user.
    You,
    /// An administrator of the project.
    Administrator,
    /// A server of the project, or Gatelet itself.
    Server,
    /// Another user, or an unknown caller.
    Somebody,
}

impl Role {
    fn of(entry: &Entry, user: UserId) -> Self {
        match (entry.actor, entry.access) {
            (Actor::User { user_id, .. }, access) if user_id == user => match access {
                // A request with a server key counts as a server's request, even if it also
                // contains a user's token.
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
    /// An entry about `user`, as shown to that user.
    pub fn of(entry: Entry, user: UserId) -> Self {
        let actor = Role::of(&entry, user);
        let Entry { id, at, events, method, place, count, .. } = entry;
        let place = place.filter(|_| matches!(actor, Role::You | Role::Somebody));
        Self { id, at: time(at), events, method, actor, place, count }
    }
}

/// The time in RFC 3339, always with milliseconds, so that the strings sort chronologically.
fn time(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_always_have_milliseconds() {
        assert_eq!(time("2026-01-01T12:00:00Z".parse().unwrap()), "2026-01-01T12:00:00.000Z");
        assert_eq!(time("2026-01-01T12:00:00.0719Z".parse().unwrap()), "2026-01-01T12:00:00.071Z");
    }
}
