//! Teams.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | team | `T#<P>#<team>` | `TEAM` | gsi1 `P#<P>#TEAMS#<shard>` / time of creation, id |
//! | member | `T#<P>#<team>` | `USER#<user>` | see [`crate::team::membership`] |
//! | last day of activity | `T#<P>#<team>` | `ACTIVE` | see [`crate::metrics::activity`] |
//! | picture | `T#<P>#<team>` | `IMAGE#<digest>` | see [`crate::profile_image`] |
//!
//! Reading a team costs one unit for each 4 KB, and writing it in a transaction costs two units for
//! each KB. Replacing a team is conditional on its `version`. Joining increments the team's
//! `joins`, so that a deletion that has read all members can tell whether anyone has joined since.
//! In the project `internal`, `joins` is also incremented when a project is added and when a client
//! removes a member. The attribute `deleting` marks a team while it is being deleted
//! ([`crate::team::deletion`]): readers treat the team as missing.

pub mod deletion;
pub mod founding;
pub mod invitation;
pub mod leaving;
pub mod membership;
pub mod of_user;
pub mod permission;

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::try_join_all;
use model::metrics::tally::Tally;
use model::team::{NAMELESS, Team};
use model::trail::{Target, TargetKind};
use model::user::User;
use wire::id::{ProjectId, TeamId};

use crate::keys::team_key;
use crate::table::sharded::{Listing, Page, Partition, shard_of, size};
use crate::table::{BATCH, Error, Item, Key, Label, Store, Write, entity, integer, number, sortable, string};

/// The number of partitions of a project's list of teams.
pub(crate) const TEAM_SHARDS: u8 = 4;

/// A team with the values that writes are conditional on.
#[derive(Debug, Clone)]
pub struct TeamRow {
    /// The team.
    pub team: Team,
    /// The version that was read.
    pub version: u64,
    /// How many times users have joined the team since it was created; in the project `internal`,
    /// also how many times projects were added and clients have removed members.
    pub joins: u64,
}

pub(crate) fn partition(project: &ProjectId, team: TeamId) -> String {
    team_key(project, team).pk
}

pub(crate) fn list_partition(project: &ProjectId, shard: u8) -> String {
    format!("P#{project}#TEAMS#{shard}")
}

impl TeamRow {
    /// Reads a team from the item that contains it; `None` if the team is being deleted.
    pub fn of(item: Item) -> Result<Option<Self>, Error> {
        if item.contains_key("deleting") {
            return Ok(None);
        }
        let (version, joins) = (number(&item, "version").unwrap_or_default(), number(&item, "joins").unwrap_or_default());
        Ok(Some(Self { team: entity(item)?, version, joins }))
    }
}

/// Writes a new team.
pub fn create(project: &ProjectId, team: &Team) -> Result<Write, Error> {
    let shard = shard_of(team.id.uuid(), TEAM_SHARDS);
    Ok(Write::create(team_key(project, team.id), team)?
        .targets([Target::new(TargetKind::Team, team.id)])
        .tallies(&Tally::teams(1))
        .attribute("version", integer(1))
        .attribute("joins", integer(0))
        .attribute("gsi1pk", string(list_partition(project, shard)))
        .attribute("gsi1sk", string(format!("{}#{}", sortable(team.created_at), team.id))))
}

/// Replaces a team that has not changed since `version`.
pub fn replace(project: &ProjectId, team: &Team, version: u64) -> Result<Write, Error> {
    Ok(Write::update(team_key(project, team.id), "SET d = :d, version = :new")
        .on("version = :old AND attribute_not_exists(deleting)")
        .entity(":d", team)?
        .value(":old", integer(version))
        .value(":new", integer(version + 1)))
}

/// Counts a joining user or an added project; fails the transaction if the team does not exist.
pub fn join(project: &ProjectId, team: TeamId) -> Write {
    Write::update(team_key(project, team), "ADD joins :one")
        .labelled(Label::Team)
        .on("attribute_exists(pk) AND attribute_not_exists(deleting)")
        .value(":one", integer(1))
}

/// Counts a project that a client adds to a team of the project `internal`, and adds the project to
/// the set `projects`. Fails with [`Label::Count`] unless the team exists and the set contains
/// fewer than `max` projects. Projects that leave the team stay in the set until the set is full
/// ([`Store::makes_room`]).
pub(crate) fn takes(team: TeamId, project: &ProjectId, max: usize) -> Write {
    let is_there = "attribute_exists(pk) AND attribute_not_exists(deleting)";
    Write::update(team_key(&ProjectId::internal(), team), "ADD joins :one, projects :project")
        .labelled(Label::Count)
        .on(format!("{is_there} AND (attribute_not_exists(projects) OR size(projects) < :max)"))
        .value(":one", integer(1))
        .value(":project", AttributeValue::Ss(vec![project.to_string()]))
        .value(":max", integer(max))
}

/// Counts a leaving member; fails the transaction if `joins` has changed since `row` was read, or
/// if the team was deleted.
pub fn leave(project: &ProjectId, row: &TeamRow) -> Write {
    Write::update(team_key(project, row.team.id), "ADD joins :one")
        .on("joins = :joins AND attribute_not_exists(deleting)")
        .value(":one", integer(1))
        .value(":joins", integer(row.joins))
}

impl Store {
    /// Renames the personal team of a formerly anonymous user after the user's new name, if the
    /// user has selected the team. A team that was renamed, or that other users have joined, keeps
    /// its name. Table errors are only logged, because nothing depends on the name. Costs one unit
    /// for each KB in the table, and the same again in the index.
    pub async fn name_personal_team(&self, project: &ProjectId, user: &User) {
        let Some(id) = user.selected_team_id else { return };
        let name = Team::personal(id, user, user.signed_up_at).display_name;
        let rename = Write::update(team_key(project, id), "SET d.display_name = :name, version = version + :one")
            .on("d.display_name = :nameless AND joins = :nobody AND attribute_not_exists(deleting)")
            .value(":name", string(name))
            .value(":nameless", string(NAMELESS))
            .value(":nobody", integer(0))
            .value(":one", integer(1));
        match self.write_unrecorded(rename).await {
            Ok(()) | Err(Error::Conflict(_)) => {}
            Err(error) => tracing::warn!(%error, team = %id, "a personal team could not be renamed after its user signed up"),
        }
    }

    /// The team with this id, unless it is being deleted.
    pub async fn team(&self, project: &ProjectId, id: TeamId) -> Result<Option<TeamRow>, Error> {
        self.get(&team_key(project, id)).await?.map_or(Ok(None), TeamRow::of)
    }

    /// The existing teams among these ids. Costs one round trip, and one unit for each 4 KB of each
    /// team.
    pub async fn teams(&self, project: &ProjectId, ids: &[TeamId]) -> Result<HashMap<TeamId, Team>, Error> {
        let read = async |ids: &[TeamId]| -> Result<Vec<Team>, Error> {
            let keys: Vec<Key> = ids.iter().map(|id| team_key(project, *id)).collect();
            let mut items = self.get_many(keys.clone()).await?;
            let rows: Vec<Option<TeamRow>> = keys.iter().filter_map(|key| items.take(key)).map(TeamRow::of).collect::<Result<_, _>>()?;
            Ok(rows.into_iter().flatten().map(|row| row.team).collect())
        };
        let batches = try_join_all(ids.chunks(BATCH).map(read)).await?;
        Ok(batches.into_iter().flatten().map(|team| (team.id, team)).collect())
    }

    /// The number of teams in the project's list. Costs half a unit for each 4 KB.
    pub async fn count_teams(&self, project: &ProjectId) -> Result<i64, Error> {
        let mut count = 0;
        for shard in 0..TEAM_SHARDS {
            let mut pages = self.query_pages(self.query_list(list_partition(project, shard)));
            while let Some(items) = pages.next().await? {
                count += i64::try_from(items.len()).unwrap_or(i64::MAX);
            }
        }
        Ok(count)
    }

    /// The project's teams that `keep` accepts, in the order of creation.
    pub async fn team_page(&self, project: &ProjectId, listing: Listing<'_>, keep: impl Fn(&Team) -> bool) -> Result<Page<Team>, Error> {
        let partitions = (0..TEAM_SHARDS).map(|shard| Partition::gsi1(list_partition(project, shard))).collect();
        let read = |_: &str, item: Item| {
            let team = TeamRow::of(item)?.map(|row| row.team).filter(&keep);
            Ok(team.map(|team| {
                let bytes = size(&team);
                (team, bytes)
            }))
        };
        self.sharded(partitions, listing, read).await
    }
}
