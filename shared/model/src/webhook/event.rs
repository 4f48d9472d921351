//! The types of events, and the messages that report them to endpoints.

use deserr::Deserr;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

// Names are `tt` fragments, because the derive macro of `ToSchema` cannot read the text of a
// `literal` fragment.
macro_rules! event_types {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:tt,)*) => {
        /// The type of an event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Deserr, ToSchema)]
        pub enum EventType {
            $(
                $(#[doc = $doc])*
                #[serde(rename = $name)]
                #[deserr(rename = $name)]
                $variant,
            )*
        }

        impl EventType {
            /// Every type.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name of the type in JSON.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}

event_types! {
    /// A user was created.
    UserCreated = "user.created",
    /// A field of a user changed.
    UserUpdated = "user.updated",
    /// A user was deleted.
    UserDeleted = "user.deleted",
    /// A team was created.
    TeamCreated = "team.created",
    /// A field of a team changed.
    TeamUpdated = "team.updated",
    /// A team was deleted.
    TeamDeleted = "team.deleted",
    /// A user joined a team.
    TeamMembershipCreated = "team_membership.created",
    /// A user is no longer a member of a team.
    TeamMembershipDeleted = "team_membership.deleted",
    /// A permission was granted to a member.
    TeamPermissionCreated = "team_permission.created",
    /// A permission was revoked from a member.
    TeamPermissionDeleted = "team_permission.deleted",
    /// A project permission was granted to a user.
    ProjectPermissionCreated = "project_permission.created",
    /// A project permission was revoked from a user.
    ProjectPermissionDeleted = "project_permission.deleted",
    /// A user signed in, or a server created a session for a user.
    SessionCreated = "session.created",
    /// A session was deleted or expired.
    SessionDeleted = "session.deleted",
    /// An email was requested.
    EmailCreated = "email.created",
    /// The status of an email changed.
    EmailUpdated = "email.updated",
    /// A set of API keys of the project was created.
    ApiKeyCreated = "api_key.created",
    /// A set of API keys of the project was changed or revoked.
    ApiKeyUpdated = "api_key.updated",
    /// An API key of a user was created.
    UserApiKeyCreated = "user_api_key.created",
    /// An API key of a user was changed or revoked.
    UserApiKeyUpdated = "user_api_key.updated",
    /// An API key of a user was removed.
    UserApiKeyDeleted = "user_api_key.deleted",
    /// An API key of a team was created.
    TeamApiKeyCreated = "team_api_key.created",
    /// An API key of a team was changed or revoked.
    TeamApiKeyUpdated = "team_api_key.updated",
    /// An API key of a team was removed.
    TeamApiKeyDeleted = "team_api_key.deleted",
    /// An entry was added to the audit log.
    AuditEntryCreated = "audit_entry.created",
    /// An administrator requested a test event.
    EndpointTest = "endpoint.test",
}

/// An event as it is delivered, with the same id and body in all attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The id, which lets receivers recognize repeated deliveries.
    pub id: String,
    /// The type.
    pub event_type: EventType,
    /// When the event happened; in a replay, when the replay was requested.
    pub at: Timestamp,
    /// The body: The JSON `{"type", "timestamp", "data"}`, with `"truncated": true` if metadata was
    /// left out.
    pub body: String,
}

/// The maximum size of the data, in bytes of JSON; if the data is larger, metadata is left out.
/// Each delivery of an event stores its data, and all deliveries of an endpoint share one partition
/// of the table.
const MAX_DATA: usize = 64 << 10;
/// The metadata of users and teams (JSON pointers), in the order of omission. The selected team's
/// metadata is omitted first, because teams have their own events, and the metadata that only
/// servers read is omitted last.
const METADATA: [&str; 6] = [
    "/selected_team/client_metadata",
    "/selected_team/client_read_only_metadata",
    "/selected_team/server_metadata",
    "/client_metadata",
    "/client_read_only_metadata",
    "/server_metadata",
];

impl Message {
    /// A message that contains this data. If the data exceeds 64 KB of JSON, as much metadata as
    /// necessary is replaced with `null`.
    pub fn new(id: String, event_type: EventType, at: Timestamp, mut data: Value) -> Self {
        let (mut text, mut truncated) = (data.to_string(), "");
        for metadata in METADATA {
            if text.len() > MAX_DATA
                && let Some(metadata) = data.pointer_mut(metadata).filter(|metadata| !metadata.is_null())
            {
                *metadata = Value::Null;
                (text, truncated) = (data.to_string(), r#","truncated":true"#);
            }
        }
        let body = format!(r#"{{"type":"{}","timestamp":"{at}"{truncated},"data":{text}}}"#, event_type.name());
        Self { id, event_type, at, body }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_type_has_the_same_name_everywhere() {
        for event_type in EventType::ALL {
            assert_eq!(json!(event_type), event_type.name());
            let parsed: Result<EventType, deserr::errors::JsonError> = deserr::deserialize(json!(event_type.name()));
            assert!(parsed.is_ok_and(|parsed| parsed == *event_type), "{event_type:?}");
        }
    }

    #[test]
    fn a_body_begins_with_its_type() {
        let message = Message::new("msg_1".to_owned(), EventType::TeamDeleted, Timestamp::UNIX_EPOCH, json!({ "id": "x" }));
        assert_eq!(message.body, r#"{"type":"team.deleted","timestamp":"1970-01-01T00:00:00Z","data":{"id":"x"}}"#);
    }

    #[test]
    fn metadata_is_left_out_until_the_data_is_small_enough() {
        let text = |kib: usize| json!("x".repeat(kib << 10));
        let data = |kib: [usize; 6]| {
            let [team_client, team_read_only, team_server, client, read_only, server] = kib.map(text);
            let team = json!({ "id": "t", "client_metadata": team_client, "client_read_only_metadata": team_read_only, "server_metadata": team_server });
            json!({ "id": "u", "client_metadata": client, "client_read_only_metadata": read_only, "server_metadata": server, "selected_team": team })
        };
        let sent = |data: Value| {
            let message = Message::new("msg_1".to_owned(), EventType::UserUpdated, Timestamp::UNIX_EPOCH, data);
            serde_json::from_str::<Value>(&message.body).unwrap()
        };
        let small = data([10; 6]);
        let body = sent(small.clone());
        assert_eq!((&body["data"], body.get("truncated")), (&small, None));
        for (kib, left_out) in [([20, 1, 1, 1, 1, 45], 1), ([0, 0, 0, 32, 1, 32], 4), ([1, 1, 1, 1, 32, 32], 5), ([32; 6], 5)] {
            let full = data(kib);
            let body = sent(full.clone());
            assert_eq!(body["truncated"], true, "{kib:?}");
            for (number, metadata) in METADATA.into_iter().enumerate() {
                let expected = if number < left_out { &Value::Null } else { full.pointer(metadata).unwrap() };
                assert_eq!(body["data"].pointer(metadata).unwrap(), expected, "{kib:?} {metadata}");
            }
            assert_eq!((&body["data"]["id"], &body["data"]["selected_team"]["id"]), (&json!("u"), &json!("t")));
        }
        // A user without a selected team, with data that only servers can make large.
        let body = sent(json!({ "id": "u", "selected_team": null, "other": "x".repeat(MAX_DATA) }));
        assert_eq!((&body["data"]["selected_team"], body.get("truncated")), (&Value::Null, None));
    }
}
