//! Members' profiles in a team, in responses to clients and to servers.

use serde::Serialize;
use utoipa::ToSchema;
use wire::id::{TeamId, UserId};

use crate::team::Member;
use crate::text::either::either;
use crate::user::User;
use crate::view::user::ServerUser;

/// A member's name and picture in a team.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ClientMemberProfile {
    /// The team.
    pub team_id: TeamId,
    /// The user.
    pub user_id: UserId,
    /// The name in this team: the user's own name unless another name was set for the team.
    pub display_name: Option<String>,
    /// The picture in this team: the user's own picture unless another picture was set for the
    /// team.
    pub profile_image_url: Option<String>,
}

/// A member's profile together with the user, for servers.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ServerMemberProfile {
    /// The fields that clients can also read.
    #[serde(flatten)]
    pub client: ClientMemberProfile,
    /// The user.
    pub user: ServerUser,
}

/// A member's profile, with the fields that the caller's access level can read.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum MemberProfileView {
    /// The form for clients.
    Client(Box<ClientMemberProfile>),
    /// The form for servers and administrators.
    Server(Box<ServerMemberProfile>),
}

impl ClientMemberProfile {
    /// The profile of a member, with the user's own values in place of values that are not set.
    pub fn of(team_id: TeamId, member: &Member, user: &User) -> Self {
        Self {
            team_id,
            user_id: user.id,
            display_name: member.display_name.clone().or_else(|| user.display_name.clone()),
            profile_image_url: member.profile_image_url.clone().or_else(|| user.profile_image_url.clone()),
        }
    }
}

either!(MemberProfileView, ClientMemberProfile, ServerMemberProfile, "A member's profile, with the fields for the caller's access level.");
