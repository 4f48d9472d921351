//! The audit trail: what happened to a project and its accounts, who caused it, and from where.
//! Entries expire. Entries never change, except for the count and the expiry of events that are
//! counted per minute: failed sign-ins and proofs, and rejected sign-ups.
//!
//! An entry contains the names and ids of the operation, the caller and the targets, and the names
//! of the fields in the request. An entry never contains the value of a field, because the value
//! may be secret.

pub mod account;
pub mod chain;
pub mod check;
pub mod counted;
pub mod event;
pub mod expiry;
pub mod target;
pub mod view;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use wire::id::{KeySetId, SessionId, TrailEntryId, UserId};
use wire::level::Level;

use crate::metrics::tally::Tally;
use crate::place::Place;
use crate::project::KeyKind;
use crate::session::Amr;
use crate::sign_up::rule::ActionType;

pub use crate::trail::event::Event;
pub use crate::trail::target::{MAX_TARGET_ID, Target, TargetKind};

/// The maximum number of field names in an entry; additional names are dropped.
pub const MAX_FIELDS: usize = 50;
/// The maximum length of a field name, in bytes; longer names are dropped.
pub const MAX_FIELD: usize = 128;
/// The maximum depth at which settings are named; deeper settings count as values.
const MAX_DEPTH: usize = 6;

/// An entry of the trail.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The id of the entry; ids sort by time.
    pub id: TrailEntryId,
    /// When the event happened; for events counted per minute, when that minute began.
    pub at: Timestamp,
    /// The operation's name, as in the OpenAPI document; a special name, such as `gateway-key-add`,
    /// for work by the system.
    pub operation: String,
    /// The effects on the account, in the order of [`Event`]. Empty if the name of the operation is
    /// sufficient.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    /// For a sign-in or a reauthentication, how the user authenticated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub method: Vec<Amr>,
    /// The access level of the caller; absent for operations that do not require access, and for
    /// the system.
    pub access: Option<Access>,
    /// Who caused the event.
    pub actor: Actor,
    /// The user of the affected account; absent if the event does not affect an account.
    pub user_id: Option<UserId>,
    /// Other targets: first the targets in the path, in their order there, such as a team and then
    /// a permission in the team.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<Target>,
    /// The names of the fields in the request; settings are named by dotted paths, such as
    /// `auth.sessions.maxAgeSeconds`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Where the request came from. Absent for work by the system, and for rejected sign-ups,
    /// because an entry may count several sign-ups.
    pub place: Option<Place>,
    /// How the change affects the project's totals.
    #[serde(default, skip_serializing_if = "Tally::is_empty")]
    pub tally: Tally,
    /// The sign-up rules that matched, with their actions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub rules: BTreeMap<String, ActionType>,
    /// How often the event happened; above 1 only for failed sign-ins and proofs and for rejected
    /// sign-ups, which are counted per minute.
    pub count: u32,
}

/// The access level that a caller proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// Client access.
    Client,
    /// Server access.
    Server,
    /// Admin access.
    Admin,
}

impl From<Level> for Access {
    fn from(level: Level) -> Self {
        match level {
            Level::Client => Self::Client,
            Level::Server => Self::Server,
            Level::Admin => Self::Admin,
        }
    }
}

/// Who did something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Actor {
    /// An unknown caller.
    Anonymous,
    /// A user of the project in a session; for a sign-in, in the session that the sign-in started.
    User {
        /// The user.
        user_id: UserId,
        /// The session.
        session_id: SessionId,
    },
    /// The holder of a secret key of the project.
    Key {
        /// The key set of the key.
        key_set_id: KeySetId,
        /// The kind of key.
        kind: KeyKind,
    },
    /// A member of the team that owns the project; the member is a user of the internal project.
    Operator {
        /// The user of the internal project.
        user_id: UserId,
    },
    /// A worker, the command line, or the gateway's own pages.
    System,
}

/// The names of the fields in a body, without their values; settings are named by dotted paths. The
/// keys of all other objects count as values, because the sender chooses them.
pub fn fields(body: &Value) -> Vec<String> {
    let mut names = Vec::new();
    if let Value::Object(fields) = body {
        for (name, value) in fields {
            match (name.as_str(), value) {
                ("config", Value::Object(settings)) if !settings.is_empty() => add_settings(Some(name), settings, 1, &mut names),
                // Settings can also be sent as JSON in a string, or named in a list.
                ("config_string" | "config_override_string", Value::String(text)) => {
                    let settings = serde_json::from_str(text).unwrap_or_default();
                    add_settings(None, &settings, 1, &mut names);
                }
                ("keys", Value::Array(keys)) => keys.iter().filter_map(Value::as_str).for_each(|key| add(key.to_owned(), &mut names)),
                _ => add(name.clone(), &mut names),
            }
        }
    }
    names
}

fn add(name: String, names: &mut Vec<String>) {
    if names.len() < MAX_FIELDS && name.len() <= MAX_FIELD && !names.contains(&name) {
        names.push(name);
    }
}

fn add_settings(path: Option<&str>, settings: &Map<String, Value>, depth: usize, names: &mut Vec<String>) {
    for (name, value) in settings {
        let path = path.map_or_else(|| name.clone(), |path| format!("{path}.{name}"));
        match value {
            Value::Object(inner) if !inner.is_empty() && depth < MAX_DEPTH => add_settings(Some(&path), inner, depth + 1, names),
            _ => add(path, names),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_a_body_are_named_without_values_or_metadata_keys() {
        let body = json!({ "display_name": "Ada", "client_metadata": { "4111 1111 1111 1111": true }, "password": null });
        assert_eq!(fields(&body), ["client_metadata", "display_name", "password"]);
        assert!(fields(&json!("correct horse battery")).is_empty() && fields(&json!(["a"])).is_empty());
    }

    #[test]
    fn settings_are_named_by_dotted_paths_in_both_forms() {
        let of_object =
            json!({ "config": { "sign_up_enabled": false, "email_config": { "password": "x" }, "domains": [{ "domain": "y" }] } });
        assert_eq!(fields(&of_object), ["config.domains", "config.email_config.password", "config.sign_up_enabled"]);
        let text = json!({ "config_override_string": r#"{"auth.allowSignUp":false,"emails":{"server":{"host":"x"}}}"# });
        assert_eq!(fields(&text), ["auth.allowSignUp", "emails.server.host"]);
        assert_eq!(fields(&json!({ "keys": ["auth.signUpRules"] })), ["auth.signUpRules"]);
    }

    #[test]
    fn excess_and_long_names_are_omitted() {
        let many: Map<String, Value> = (0..MAX_FIELDS + 7).map(|number| (format!("field{number}"), Value::Null)).collect();
        assert_eq!(fields(&Value::Object(many)).len(), MAX_FIELDS);
        assert!(fields(&json!({ ("a".repeat(MAX_FIELD + 1)): 1 })).is_empty());
        let deep = (0..20).fold(json!(1), |inner, _| json!({ "a": inner }));
        assert_eq!(fields(&json!({ "config": deep })), ["config.a.a.a.a.a.a"]);
    }
}
