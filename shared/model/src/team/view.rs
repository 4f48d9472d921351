//! What a client and a server read of a team.

use serde::Serialize;
use utoipa::ToSchema;
use wire::id::TeamId;
use wire::level::Level;

use crate::metadata::Metadata;
use crate::team::Team;
use crate::text::either::either;

/// A team, as a client of a member reads it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClientTeam {
    pub id: TeamId,
    pub display_name: String,
    pub profile_image_url: Option<String>,
    pub client_metadata: Option<Metadata>,
    pub client_read_only_metadata: Option<Metadata>,
}

/// A team, as a server and an administrator read it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ServerTeam {
    #[serde(flatten)]
    pub client: ClientTeam,
    /// Milliseconds since the epoch.
    pub created_at_millis: i64,
    pub server_metadata: Option<Metadata>,
}

/// A team in the form that the reader's access type gives.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum TeamView {
    Client(Box<ClientTeam>),
    Server(Box<ServerTeam>),
}

impl TeamView {
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

    pub fn id(&self) -> TeamId {
        match self {
            Self::Client(team) => team.id,
            Self::Server(team) => team.client.id,
        }
    }
}

either!(TeamView, ClientTeam, ServerTeam, "A team in the form that the reader's access type gives.");
