//! Memberships: two items, one with the team and one with the user, always written and deleted together.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | member | `T#<P>#<team>` | `USER#<user>` | gsi1 `T#<P>#<team>#USERS` / the user's sign-up time, id |
//! | membership | `U#<P>#<user>` | `TEAM#<team>` | |
//!
//! The member has everything: profile, grants (attribute `grants`, a set of strings that is added to and taken from without reading
//! it), and whether the user has selected the team (`selected`), so that whoever removes a member knows without reading the user that its
//! selection goes as well. The membership says that it exists, for "teams of a user".
//!
//! Joining takes one transaction of four items: it counts at the team and changes the user's version, so neither can be deleted without
//! its new member or membership. Reading whether somebody is a member is one unit; members of a team and teams of a user are one Query
//! each, a unit for about 15.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use model::permission::Grant;
use model::team::Member;
use model::user::User;
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, TeamId, UserId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, entity, integer, sortable, string};
use crate::keys::user_key;
use crate::label::Label;
use crate::team::{self, TeamRow, partition, team_key};
use crate::write::Write;
use crate::{profile_image, user};

/// A member of a team with what is beside it.
#[derive(Debug, Clone)]
pub struct MemberRow {
    pub team_id: TeamId,
    pub user_id: UserId,
    pub member: Member,
    pub grants: BTreeSet<Grant>,
    pub is_selected: bool,
}

/// A team of a user, as the user's partition has it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Membership {
    pub team_id: TeamId,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub joined_at: jiff::Timestamp,
}

pub fn member_key(project: &ProjectId, team: TeamId, user: UserId) -> Key {
    Key::new(partition(project, team), format!("USER#{user}"))
}

pub fn membership_key(project: &ProjectId, user: UserId, team: TeamId) -> Key {
    Key::new(format!("U#{project}#{user}"), format!("TEAM#{team}"))
}

pub(crate) fn sign_up_partition(project: &ProjectId, team: TeamId) -> String {
    format!("T#{project}#{team}#USERS")
}

pub(crate) fn grants_value(grants: impl IntoIterator<Item = Grant>) -> AttributeValue {
    AttributeValue::Ss(grants.into_iter().map(|Grant(grant)| grant).collect())
}

impl MemberRow {
    fn of(item: Item) -> Result<Self, Error> {
        let id = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).and_then(|text| text.rsplit('#').next());
        let (team_id, user_id) = (id("pk").and_then(|id| TeamId::parse(id).ok()), id("sk").and_then(|id| UserId::parse(id).ok()));
        let (Some(team_id), Some(user_id)) = (team_id, user_id) else { return Err(Error::Refused("a member has no ids".to_owned())) };
        let grants = item.get("grants").and_then(|value| value.as_ss().ok()).cloned().unwrap_or_default();
        let is_selected = item.contains_key("selected");
        Ok(Self { team_id, user_id, member: entity(item)?, grants: grants.into_iter().map(Grant).collect(), is_selected })
    }
}

/// Writes both items of a new member.
pub fn create(
    project: &ProjectId,
    team: TeamId,
    user: &User,
    member: &Member,
    grants: BTreeSet<Grant>,
    is_selected: bool,
) -> Result<[Write; 2], Error> {
    let mut write = Write::create(member_key(project, team, user.id), member)?
        .about(user.id)
        .attribute("gsi1pk", string(sign_up_partition(project, team)))
        .attribute("gsi1sk", string(format!("{}#{}", sortable(user.signed_up_at), user.id)));
    if !grants.is_empty() {
        write = write.attribute("grants", grants_value(grants));
    }
    if is_selected {
        write = write.attribute("selected", AttributeValue::Bool(true));
    }
    let membership = Membership { team_id: team, joined_at: member.joined_at };
    Ok([write, Write::create(membership_key(project, user.id, team), &membership)?])
}

/// Writes a member who joins a team that is there already, with `user` as the write of the user.
pub fn joining(
    project: &ProjectId,
    team: TeamId,
    user: &User,
    user_write: Write,
    member: &Member,
    grants: BTreeSet<Grant>,
) -> Result<Vec<Write>, Error> {
    let [member, membership] = create(project, team, user, member, grants, false)?;
    Ok(vec![team::join(project, team), user_write, member, membership])
}

/// Deletes both items of a member, and what it selected and uploaded; fails when it is no longer as it was read.
pub fn remove(project: &ProjectId, row: &MemberRow) -> Vec<Write> {
    let (team, user) = (row.team_id, row.user_id);
    let still = if row.is_selected { "attribute_exists(selected)" } else { "attribute_exists(pk) AND attribute_not_exists(selected)" };
    let member = Write::delete(member_key(project, team, user)).on(still);
    let membership = Write::delete(membership_key(project, user, team));
    let selection = row.is_selected.then(|| user::deselect_team(project, user, team));
    let image = row.member.uploaded_image.as_ref().map(|image| profile_image::delete(project, team, image));
    [member, membership].into_iter().chain(selection).chain(image).collect()
}

/// How many writes [`remove`] makes at most.
pub(crate) const MOST_REMOVE_WRITES: usize = 4;

/// Deletes both items of a member who is deleted itself.
pub(crate) fn remove_deleted(project: &ProjectId, user: UserId, team: TeamId) -> [Write; 2] {
    [Write::delete(member_key(project, team, user)), Write::delete(membership_key(project, user, team))]
}

/// Replaces the profile of a member that nobody changed since.
pub fn replace(project: &ProjectId, old: &MemberRow, new: &Member) -> Result<Write, Error> {
    let write = Write::update(member_key(project, old.team_id, old.user_id), "SET d = :new").on("d = :old");
    write.entity(":old", &old.member)?.entity(":new", new)
}

/// Fails the transaction unless the user is a member of the team.
pub(crate) fn is_member(project: &ProjectId, team: TeamId, user: UserId) -> Write {
    Write::check(member_key(project, team, user), "attribute_exists(pk)")
}

/// Notes that a user has selected a team; fails unless the user is a member.
pub fn select(project: &ProjectId, team: TeamId, user: UserId) -> Write {
    let write = Write::update(member_key(project, team, user), "SET selected = :yes").on("attribute_exists(pk)");
    write.value(":yes", AttributeValue::Bool(true)).labelled(Label::Member)
}

/// Notes that a user has selected another team than this one.
pub fn deselect(project: &ProjectId, team: TeamId, user: UserId) -> Write {
    Write::update(member_key(project, team, user), "REMOVE selected").on("attribute_exists(pk)")
}

impl Store {
    pub async fn member(&self, project: &ProjectId, team: TeamId, user: UserId) -> Result<Option<MemberRow>, Error> {
        self.get(&member_key(project, team, user)).await?.map(MemberRow::of).transpose()
    }

    /// A team, and those of these users who are members, in one round trip.
    pub async fn team_and_members(
        &self,
        project: &ProjectId,
        team: TeamId,
        users: &[UserId],
    ) -> Result<(Option<TeamRow>, Vec<MemberRow>), Error> {
        let keys: BTreeSet<UserId> = users.iter().copied().collect();
        let keys: Vec<Key> = keys.into_iter().map(|user| member_key(project, team, user)).collect();
        let team_key = team_key(project, team);
        let mut items = self.get_many(keys.iter().cloned().chain([team_key.clone()])).await?;
        let team = items.take(&team_key).map_or(Ok(None), TeamRow::of)?;
        let members = keys.iter().filter_map(|key| items.take(key)).map(MemberRow::of).collect::<Result<_, _>>()?;
        Ok((team, members))
    }

    /// The teams of a user, in the order in which it joined them.
    pub async fn memberships(&self, project: &ProjectId, user: UserId) -> Result<Vec<Membership>, Error> {
        let query = self
            .query()
            .key_condition_expression("pk = :pk AND begins_with(sk, :team)")
            .expression_attribute_values(":pk", string(user_key(project, user).pk))
            .expression_attribute_values(":team", string("TEAM#"))
            .consistent_read(true);
        let mut memberships: Vec<Membership> = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        memberships.sort_by_key(|membership| (membership.joined_at, membership.team_id));
        Ok(memberships)
    }

    /// What a user is in each of its teams: two round trips.
    pub async fn members_of(&self, project: &ProjectId, user: UserId) -> Result<Vec<MemberRow>, Error> {
        let memberships = self.memberships(project, user).await?;
        let mut rows = Vec::with_capacity(memberships.len());
        for chunk in memberships.chunks(team::BATCH / 2) {
            let keys = chunk.iter().flat_map(|of| [team_key(project, of.team_id), member_key(project, of.team_id, user)]);
            let mut items = self.get_many(keys).await?;
            for of in chunk {
                let team = items.take(&team_key(project, of.team_id)).map_or(Ok(None), TeamRow::of)?;
                let member = items.take(&member_key(project, of.team_id, user)).map(MemberRow::of).transpose()?;
                rows.extend(member.filter(|_| team.is_some()));
            }
        }
        Ok(rows)
    }

    /// Members of a team by their ids, at most `limit` after one; says whether there are more.
    pub async fn members(
        &self,
        project: &ProjectId,
        team: TeamId,
        after: Option<UserId>,
        limit: usize,
    ) -> Result<(Vec<MemberRow>, bool), Error> {
        let after = after.map_or_else(|| "USER#".to_owned(), |user| format!("USER#{user}"));
        let (items, more) = self.team_items(project, team, &after, limit).await?;
        Ok((items.into_iter().map(MemberRow::of).collect::<Result<_, _>>()?, more))
    }

    /// A team as it is in the table, also one that is being deleted, and its first members: the team is read before they are.
    pub(crate) async fn team_with_members(
        &self,
        project: &ProjectId,
        team: TeamId,
        limit: usize,
    ) -> Result<(Option<Item>, Vec<MemberRow>), Error> {
        let (items, _) = self.team_items(project, team, "T", limit + 1).await?;
        let is_team = |item: &Item| item.get("sk") == Some(&string("TEAM"));
        let (teams, members): (Vec<_>, Vec<_>) = items.into_iter().partition(is_team);
        Ok((teams.into_iter().next(), members.into_iter().map(MemberRow::of).collect::<Result<_, _>>()?))
    }

    /// Items of a team's partition after a sort key; says whether there are more.
    async fn team_items(&self, project: &ProjectId, team: TeamId, after: &str, limit: usize) -> Result<(Vec<Item>, bool), Error> {
        let (mut items, mut from) = (Vec::new(), None);
        loop {
            let left = limit.saturating_sub(items.len());
            let query = self
                .query()
                .key_condition_expression("pk = :pk AND sk > :after")
                .expression_attribute_values(":pk", string(partition(project, team)))
                .expression_attribute_values(":after", string(after))
                .consistent_read(true)
                .limit(i32::try_from(left).unwrap_or(i32::MAX))
                .set_exclusive_start_key(from);
            let (more, next) = self.query_page(query).await?;
            items.extend(more);
            from = next;
            if items.len() >= limit || from.is_none() {
                return Ok((items, from.is_some()));
            }
        }
    }
}

/// Fails the transaction unless there is such a user, and changes its version: it cannot be deleted without what is written with this.
pub fn joins(project: &ProjectId, user: UserId) -> Write {
    Write::update(user_key(project, user), "SET version = version + :one")
        .labelled(Label::User)
        .on("attribute_exists(pk)")
        .value(":one", integer(1))
}
