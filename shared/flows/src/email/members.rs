//! The members of a team who can be told something by email.

use model::email::Email;
use store::team::membership::MemberRow;
use wire::id::{ProjectId, TeamId, UserId};

use crate::app::App;

/// The maximum number of members who are told, as their emails are written in one transaction.
const MOST: usize = 50;
/// How many members are read at once. Their users are read together.
const PAGE: usize = 100;

/// The members of a team whom `keep` accepts and whose primary address is verified, with this
/// address; at most 50, in the order of their user ids. An unverified address may belong to a
/// stranger, to whom a member could otherwise send the names that the email contains.
pub async fn verified(
    app: &App,
    project: &ProjectId,
    team: TeamId,
    keep: impl Fn(&MemberRow) -> bool,
) -> Result<Vec<(UserId, Email)>, store::Error> {
    let (mut verified, mut after) = (Vec::new(), None);
    loop {
        let (members, more) = app.store.members(project, team, after, PAGE).await?;
        after = members.last().map(|member| member.user_id);
        let ids: Vec<UserId> = members.iter().filter(|member| keep(member)).map(|member| member.user_id).collect();
        let users = app.store.users_by_id(project, &ids).await?;
        let primary = ids.iter().filter_map(|id| Some((*id, users.get(id)?.user.primary()?)));
        verified.extend(primary.filter(|(_, channel)| channel.is_verified).map(|(id, channel)| (id, channel.value.clone())));
        verified.truncate(MOST);
        if verified.len() == MOST || !more || after.is_none() {
            return Ok(verified);
        }
    }
}
