//! Builds the member profiles in responses.

use std::collections::HashMap;

use api::product::Access;
use errors::Error;
use flows::teams::no_member;
use model::team::Team;
use model::view::member_profile::{ClientMemberProfile, MemberProfileView, ServerMemberProfile};
use model::view::user::ServerUser;
use store::team::membership::MemberRow;
use store::user::UserRow;
use wire::id::{TeamId, UserId};
use wire::level::Level;

/// The profiles of the first of `members`, and the number of members that were processed. Members
/// whose users no longer exist have no profile. If the users of the members are too large for a
/// page, only some members are processed. For servers, the profiles include the user and the user's
/// selected team.
pub(crate) async fn views<L>(access: &Access<L>, team: &Team, members: &[MemberRow]) -> Result<(Vec<MemberProfileView>, usize), Error> {
    let project = &access.project;
    let ids: Vec<UserId> = members.iter().map(|row| row.user_id).collect();
    let (users, covered) = access.prefetched.users_for_page(&project.id, &ids).await?;
    Ok((views_of(access, team, &members[..covered], users).await?, covered))
}

/// The profile of a member whose user has been read.
pub(crate) async fn view_of<L>(access: &Access<L>, team: &Team, member: &MemberRow, user: UserRow) -> Result<MemberProfileView, Error> {
    let missing = no_member(member.team_id, member.user_id);
    let users = HashMap::from([(member.user_id, user)]);
    Ok(views_of(access, team, std::slice::from_ref(member), users).await?.pop().ok_or(missing)?)
}

async fn views_of<L>(
    access: &Access<L>,
    team: &Team,
    members: &[MemberRow],
    mut users: HashMap<UserId, UserRow>,
) -> Result<Vec<MemberProfileView>, Error> {
    let project = &access.project;
    let is_server = access.level >= Level::Server;
    let mut selected: Vec<TeamId> =
        users.values().filter_map(|row| row.user.selected_team_id).filter(|id| is_server && *id != team.id).collect();
    selected.sort_unstable();
    selected.dedup();
    let teams = access.app.store.teams(&project.id, &selected).await?;
    let view = |row: &MemberRow| {
        let user = users.remove(&row.user_id)?;
        let client = ClientMemberProfile::of(row.team_id, &row.member, &user.user);
        if !is_server {
            return Some(MemberProfileView::Client(Box::new(client)));
        }
        let selected = user.user.selected_team_id.and_then(|id| if id == team.id { Some(team) } else { teams.get(&id) });
        let user = ServerUser::of(&user.user, user.last_active_at, &project.config, selected);
        Some(MemberProfileView::Server(Box::new(ServerMemberProfile { client, user })))
    };
    Ok(members.iter().filter_map(view).collect())
}
