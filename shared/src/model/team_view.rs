//! What a client and a server read of a team.

use serde::Serialize;
use utoipa::openapi::schema::AnyOfBuilder;
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::id::{TeamId, UserId};
use super::metadata::Metadata;
use super::team::{Member, Team};
use super::user::User;
use super::user_view::ServerUser;
use crate::product_api::access::Level;

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

/// What a member is called and looks like in a team.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClientMemberProfile {
    pub team_id: TeamId,
    pub user_id: UserId,
    /// What the user is called everywhere, unless the user says otherwise for this team.
    pub display_name: Option<String>,
    pub profile_image_url: Option<String>,
}

/// The same with the user, for a server.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ServerMemberProfile {
    #[serde(flatten)]
    pub client: ClientMemberProfile,
    pub user: ServerUser,
}

/// A member's profile in the form that the reader's access type gives.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum MemberProfileView {
    Client(Box<ClientMemberProfile>),
    Server(Box<ServerMemberProfile>),
}

impl ClientMemberProfile {
    pub fn of(team_id: TeamId, member: &Member, user: &User) -> Self {
        Self {
            team_id,
            user_id: user.id,
            display_name: member.display_name.clone().or_else(|| user.display_name.clone()),
            profile_image_url: member.profile_image_url.clone().or_else(|| user.profile_image_url.clone()),
        }
    }
}

/// Not `oneOf`, as would be derived: what a server reads has all that a client reads, so it is of both forms.
macro_rules! either {
    ($view:ident, $client:ident, $server:ident, $description:literal) => {
        impl PartialSchema for $view {
            fn schema() -> RefOr<Schema> {
                AnyOfBuilder::new()
                    .item(Ref::from_schema_name($client::name()))
                    .item(Ref::from_schema_name($server::name()))
                    .description(Some($description))
                    .into()
            }
        }

        impl ToSchema for $view {
            fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
                schemas.extend([($client::name().into_owned(), $client::schema()), ($server::name().into_owned(), $server::schema())]);
                $client::schemas(schemas);
                $server::schemas(schemas);
            }
        }
    };
}

either!(TeamView, ClientTeam, ServerTeam, "A team in the form that the reader's access type gives.");
either!(MemberProfileView, ClientMemberProfile, ServerMemberProfile, "A member's profile in the form that the reader's access type gives.");
