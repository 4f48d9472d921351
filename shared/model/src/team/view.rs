//! Teams in responses to clients and to servers.

use serde::Serialize;
use utoipa::ToSchema;
use wire::id::TeamId;
use wire::level::Level;

use crate::metadata::Metadata;
use crate::team::Team;
use crate::text::either::either;

/// A team in responses to the clients of its members.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClientTeam {
    /// The id.
    pub id: TeamId,
    /// The name.
    pub display_name: String,
    /// The picture.
    pub profile_image_url: Option<String>,
    /// Metadata that the clients of members read and write.
    #[schema(value_type = Option<serde_json::Value>)]
    pub client_metadata: Option<Metadata>,
    /// Metadata that the clients of members read and servers write.
    #[schema(value_type = Option<serde_json::Value>)]
    pub client_read_only_metadata: Option<Metadata>,
}

/// A team in responses to servers and administrators.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ServerTeam {
    /// The fields that clients can also read.
    #[serde(flatten)]
    pub client: ClientTeam,
    /// When the team was created, in milliseconds since the Unix epoch.
    pub created_at_millis: i64,
    /// Metadata that only servers read and write.
    #[schema(value_type = Option<serde_json::Value>)]
    pub server_metadata: Option<Metadata>,
}

/// A team, with the fields that the caller's access level can read.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum TeamView {
    /// The form for clients.
    Client(Box<ClientTeam>),
    /// The form for servers and administrators.
    Server(Box<ServerTeam>),
}

impl TeamView {
    /// The form of a team for an access level.
    pub fn of(team: &Team, level: Level) -> Self {
        let client = ClientTeam {
            id: team.id,
            display_name: team.display_name.clone(),
            profile_image_url: team.profile_image_url.clone(),
            client_metadata: team.client_metadata.clone(),
            client_read_only_metadata: team.client_read_only_metadata.clone(),
        };
        match level {
            Level::Client => Self::Client(Box::new(client)),
            Level::Server | Level::Admin => Self::Server(Box::new(ServerTeam {
                client,
                created_at_millis: team.created_at.as_millisecond(),
                server_metadata: team.server_metadata.clone(),
            })),
        }
    }

    /// The id of the team.
    pub fn id(&self) -> TeamId {
        match self {
            Self::Client(team) => team.id,
            Self::Server(team) => team.client.id,
        }
    }
}

either!(TeamView, ClientTeam, ServerTeam, "A team, with the fields for the caller's access level.");
