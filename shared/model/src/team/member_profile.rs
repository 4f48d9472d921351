//! A member's profile, as a client and a server read it.

use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};

use crate::team::Member;
use crate::text::either::either;
use crate::user::User;
use crate::user::view::ServerUser;

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

either!(MemberProfileView, ClientMemberProfile, ServerMemberProfile, "A member's profile in the form that the reader's access type gives.");
