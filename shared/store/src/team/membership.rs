//! Memberships. A membership consists of two items, one in the team's partition and one in the
//! user's partition, which are always created and deleted together.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | member | `T#<P>#<team>` | `USER#<user>` | gsi1 `T#<P>#<team>#USERS` / the user's sign-up time, id |
//! | membership | `U#<P>#<user>` | `TEAM#<team>` | |
//!
//! The member item contains the whole membership: the profile, the grants (attribute `grants`, a
//! set of strings that can be changed without reading it), and whether the user has selected the
//! team (`selected`). Because of `selected`, a removal can clear the selection without reading the
//! user. The membership item is used only to find a user's teams.
//!
//! Joining is one transaction of four items. Joining increments the team's counter and the user's
//! version, so that neither the team nor the user can be deleted without the new member and
//! membership items. Checking a membership takes one unit. Listing the members of a team or the
//! teams of a user takes one Query, at one unit for about 15 items.

use std::collections::BTreeSet;

use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use model::permission::Grant;
use model::team::Member;
use model::user::User;
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, TeamId, UserId};

use crate::keys::{team_key, user_key};
use crate::table::{Error, Item, Key, Label, Store, Write, entity, integer, sortable, string};
use crate::team::{self, TeamRow, partition};
use crate::user::list::sign_up_partition;
use crate::{profile_image, user};

/// A member of a team, with the attributes that are stored outside the profile.
#[derive(Debug, Clone)]
pub struct MemberRow {
    /// The team.
    pub team_id: TeamId,
    /// The user.
    pub user_id: UserId,
    /// The profile.
    pub member: Member,
    /// The permissions granted to the member.
    pub grants: BTreeSet<Grant>,
    /// Whether the user has selected the team.
    pub is_selected: bool,
    /// For a new member, the time when the team was created ([`Membership::team_created_at`]);
    /// `None` in rows read from the table.
    pub team_created_at: Option<jiff::Timestamp>,
}

/// A membership, as it is stored in the user's partition.
#[wire::sparse]
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Membership {
    /// The team.
    pub team_id: TeamId,
    /// When the user joined.
    pub joined_at: jiff::Timestamp,
    /// The time when the team was created, which determines the order of the user's teams; absent
    /// if a server or an earlier version wrote the membership.
    pub team_created_at: Option<jiff::Timestamp>,
}

/// The key of a member item.
pub fn member_key(project: &ProjectId, team: TeamId, user: UserId) -> Key {
    Key::new(partition(project, team), format!("USER#{user}"))
}

/// The key of a membership item.
pub fn membership_key(project: &ProjectId, user: UserId, team: TeamId) -> Key {
    Key::new(format!("U#{project}#{user}"), format!("TEAM#{team}"))
}

pub(crate) fn grants_value(grants: impl IntoIterator<Item = Grant>) -> AttributeValue {
    AttributeValue::Ss(grants.into_iter().map(|Grant(grant)| grant).collect())
}

impl MemberRow {
    /// A new member of a team.
    pub fn new(team_id: TeamId, user_id: UserId, member: Member, grants: BTreeSet<Grant>) -> Self {
        Self { team_id, user_id, member, grants, is_selected: false, team_created_at: None }
    }

    /// This member, with the creation time of the team, if known.
    pub fn with_team_created_at(self, team_created_at: Option<jiff::Timestamp>) -> Self {
        Self { team_created_at, ..self }
    }

    /// This member, with the team selected or not.
    pub fn selected(self, is_selected: bool) -> Self {
        Self { is_selected, ..self }
    }

    pub(super) fn of(item: Item) -> Result<Self, Error> {
        let id = |name: &str| item.get(name).and_then(|value| value.as_s().ok()).and_then(|text| text.rsplit('#').next());
        let (team_id, user_id) = (id("pk").and_then(|id| TeamId::parse(id).ok()), id("sk").and_then(|id| UserId::parse(id).ok()));
        let (Some(team_id), Some(user_id)) = (team_id, user_id) else {
            return Err(Error::Refused(format!("a member has the malformed key {:?} / {:?}", item.get("pk"), item.get("sk"))));
        };
        let grants = item.get("grants").and_then(|value| value.as_ss().ok()).cloned().unwrap_or_default();
        let is_selected = item.contains_key("selected");
        let grants = grants.into_iter().map(Grant).collect();
        Ok(Self { is_selected, ..Self::new(team_id, user_id, entity(item)?, grants) })
    }
}

/// Writes both items of a new member.
pub fn create(project: &ProjectId, user: &User, row: &MemberRow) -> Result<[Write; 2], Error> {
    let team = row.team_id;
    let mut write = Write::create(member_key(project, team, user.id), &row.member)?
        .about(user.id)
        .attribute("gsi1pk", string(sign_up_partition(project, team)))
        .attribute("gsi1sk", string(format!("{}#{}", sortable(user.signed_up_at), user.id)));
    if !row.grants.is_empty() {
        write = write.attribute("grants", grants_value(row.grants.iter().cloned()));
    }
    if row.is_selected {
        write = write.attribute("selected", AttributeValue::Bool(true));
    }
    let membership = Membership { team_id: team, joined_at: row.member.joined_at, team_created_at: row.team_created_at };
    Ok([write, Write::create(membership_key(project, user.id, team), &membership)?])
}

/// Writes a member who joins an existing team; `user_write` is the write to the user's item.
pub fn joining(project: &ProjectId, user: &User, user_write: Write, row: &MemberRow) -> Result<Vec<Write>, Error> {
    let [member, membership] = create(project, user, row)?;
    Ok(vec![team::join(project, row.team_id), user_write, member, membership])
}

/// Deletes both items of a member, with the selection and the picture. Fails if the member has
/// left, selected or deselected the team, or changed the picture since `row` was read.
pub fn remove(project: &ProjectId, row: &MemberRow) -> Vec<Write> {
    let selection = row.is_selected.then(|| user::deselect_team(project, row.user_id, row.team_id));
    remove_but_selection(project, row).into_iter().chain(selection).collect()
}

/// Like [`remove`], but without the write to the user's item.
pub(crate) fn remove_but_selection(project: &ProjectId, row: &MemberRow) -> Vec<Write> {
    let (team, user) = (row.team_id, row.user_id);
    let still = if row.is_selected { "attribute_exists(selected)" } else { "attribute_exists(pk) AND attribute_not_exists(selected)" };
    let picture = row.member.uploaded_image.as_ref();
    let member = with_picture(Write::delete(member_key(project, team, user)), &format!("{still} AND "), picture);
    let membership = Write::delete(membership_key(project, user, team));
    let image = picture.map(|image| profile_image::delete(project, team, image));
    [member, membership].into_iter().chain(image).collect()
}

/// Makes a write to a member's item conditional on this picture or, if `picture` is `None`, on the
/// absence of a picture. `and` is empty, or another condition followed by `AND`.
fn with_picture(write: Write, and: &str, picture: Option<&Digest>) -> Write {
    match picture {
        Some(picture) => write.on(format!("{and}d.uploaded_image = :picture")).value(":picture", string(picture.to_string())),
        None => write.on(format!("{and}attribute_not_exists(d.uploaded_image)")),
    }
}

/// The maximum number of writes made by [`remove`].
pub(crate) const MAX_REMOVE_WRITES: usize = 4;

/// Deletes both items of a member whose user is being deleted, together with the profile picture;
/// fails if the member has a picture other than `picture`.
fn remove_deleted(project: &ProjectId, user: UserId, team: TeamId, picture: Option<&Digest>) -> Vec<Write> {
    let member = with_picture(Write::delete(member_key(project, team, user)), "", picture);
    let picture = picture.map(|picture| profile_image::delete(project, team, picture));
    [member, Write::delete(membership_key(project, user, team))].into_iter().chain(picture).collect()
}

/// Replaces the profile of a member, unless it has changed since it was read.
pub fn replace(project: &ProjectId, old: &MemberRow, new: &Member) -> Result<Write, Error> {
    let write = Write::update(member_key(project, old.team_id, old.user_id), "SET d = :new").on("d = :old");
    write.entity(":old", &old.member)?.entity(":new", new)
}

/// Fails the transaction unless the user is a member of the team.
pub(crate) fn is_member(project: &ProjectId, team: TeamId, user: UserId) -> Write {
    Write::check(member_key(project, team, user), "attribute_exists(pk)")
}

/// Records that a user has selected a team; fails unless the user is a member.
pub fn select(project: &ProjectId, team: TeamId, user: UserId) -> Write {
    let write = Write::update(member_key(project, team, user), "SET selected = :yes").on("attribute_exists(pk)");
    write.value(":yes", AttributeValue::Bool(true)).labelled(Label::Member)
}

/// Records that a user has deselected a team; fails unless the user is a member.
pub fn deselect(project: &ProjectId, team: TeamId, user: UserId) -> Write {
    Write::update(member_key(project, team, user), "REMOVE selected").on("attribute_exists(pk)")
}

impl Store {
    /// The member of a team with this user id.
    pub async fn member(&self, project: &ProjectId, team: TeamId, user: UserId) -> Result<Option<MemberRow>, Error> {
        self.get(&member_key(project, team, user)).await?.map(MemberRow::of).transpose()
    }

    /// A team and its members among these users, in one round trip.
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

    /// The writes that delete the member `user` from each of these teams and the profile picture,
    /// while that user is being deleted. The writes fail if the picture changes in the meantime.
    /// Costs a unit for each team.
    pub(crate) async fn removals_of_deleted(&self, project: &ProjectId, user: UserId, teams: &[TeamId]) -> Result<Vec<Vec<Write>>, Error> {
        let key = |team: &TeamId| member_key(project, *team, user);
        let mut items = self.get_many(teams.iter().map(key)).await?;
        let removal = |team: &TeamId| {
            let row = items.take(&key(team)).map(MemberRow::of).transpose()?;
            let picture = row.as_ref().and_then(|row| row.member.uploaded_image.as_ref());
            Ok(remove_deleted(project, user, *team, picture))
        };
        teams.iter().map(removal).collect()
    }

    /// The teams among `teams` that the user is a member of. Costs one unit for each of `teams`.
    pub async fn memberships_among(&self, project: &ProjectId, user: UserId, teams: &BTreeSet<TeamId>) -> Result<BTreeSet<TeamId>, Error> {
        let key = |team: &TeamId| membership_key(project, user, *team);
        let items = self.get_many(teams.iter().map(key)).await?;
        Ok(teams.iter().copied().filter(|team| items.get(&key(team)).is_some()).collect())
    }

    /// Up to `limit` members of a team whose user ids come after `after`, if set, in the order of
    /// these ids, and whether there may be more.
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

    /// A team as it is stored, even while it is being deleted, and its first members, which are
    /// read after the team.
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

    /// Up to `limit` items of a team's partition after a sort key, and whether there may be more
    /// items.
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

/// Fails the transaction unless the user exists, and increments the user's version, so that a
/// concurrent deletion of the user cannot miss the items of this transaction.
pub fn joins(project: &ProjectId, user: UserId) -> Write {
    Write::update(user_key(project, user), "SET version = version + :one")
        .labelled(Label::User)
        .on("attribute_exists(pk)")
        .value(":one", integer(1))
}

/// Makes [`joins`] or [`joins_protected`] fail if the user no longer has this version, for example
/// because the user has joined another team.
pub fn still(joins: Write, version: u64) -> Write {
    joins.on("version = :seen").value(":seen", integer(version))
}

/// Like [`joins`], but for a team whose members need a second factor. Also records the team in the
/// user's item.
pub fn joins_protected(project: &ProjectId, user: UserId, team: TeamId) -> Write {
    user::add_second_factor_teams(project, user, [&team]).labelled(Label::User)
}
