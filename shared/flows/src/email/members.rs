//! The members of a team who can be notified by email.

use model::email::Email;
use model::user::User;
use store::team::membership::MemberRow;
use wire::id::{ProjectId, TeamId, UserId};

use crate::app::App;
use crate::email::gate::Address;

/// The maximum number of members to notify, because one transaction writes all their emails.
const MAX_NOTIFIED: usize = 50;
/// The number of members read at a time. The users of these members are read together.
const PAGE: usize = 100;

/// A member who can be notified.
#[derive(Debug)]
pub struct NotifiableMember {
    /// The member.
    pub user_id: UserId,
    /// The primary address.
    pub email: Email,
    /// Whether the member has proved the address; never [`Address::Unproved`].
    pub address: Address,
}

/// The team's members that `keep` accepts and whose primary address is verified, each with this
/// address. Contains at most 50 members, in the order of their user ids. Members without a verified
/// address are skipped: the address may belong to a stranger, to whom a member could otherwise send
/// the names in the email.
pub async fn verified(
    app: &App,
    project: &ProjectId,
    team: TeamId,
    keep: impl Fn(&MemberRow) -> bool,
) -> Result<Vec<NotifiableMember>, store::Error> {
    let (mut verified, mut after) = (Vec::new(), None);
    loop {
        let (members, more) = app.store.members(project, team, after, PAGE).await?;
        after = members.last().map(|member| member.user_id);
        let ids: Vec<UserId> = members.iter().filter(|member| keep(member)).map(|member| member.user_id).collect();
        let users = app.store.users_by_id(project, &ids).await?;
        verified.extend(ids.iter().filter_map(|id| told(&users.get(id)?.user)));
        verified.truncate(MAX_NOTIFIED);
        if verified.len() == MAX_NOTIFIED || !more || after.is_none() {
            return Ok(verified);
        }
    }
}

fn told(user: &User) -> Option<NotifiableMember> {
    let email = user.primary()?.value.clone();
    let address = Address::of(user, &email);
    (address != Address::Unproved).then_some(NotifiableMember { user_id: user.id, email, address })
}
