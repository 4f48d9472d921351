//! Teams.
//!
//! | item | pk | sk | index |
//! |---|---|---|---|
//! | team | `T#<P>#<team>` | `TEAM` | gsi1 `P#<P>#TEAMS#<shard>` / time of creation, id |
//! | member | `T#<P>#<team>` | `USER#<user>` | see [`crate::team::membership`] |
//! | picture | `T#<P>#<team>` | `IMAGE#<digest>` | see [`crate::profile_image`] |
//!
//! A team is read for one unit (4 KB) and written on the condition of its `version`: two units for each KB in a transaction. Whoever joins
//! adds one to its `joins`, so that a deletion that has read all members knows that they are still all. An attribute `deleting` is on a
//! team that is being deleted ([`crate::team::deletion`]): it is nobody's any more, and whatever reads it takes it for missing.

pub mod deletion;
pub mod invitation;
pub mod membership;
pub mod permission;

use std::collections::HashMap;

use futures_util::future::try_join_all;
use model::team::{NAMELESS, Team};
use model::trail::{Target, TargetKind};
use model::user::User;
use wire::id::{ProjectId, TeamId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, entity, integer, number, sortable, string};
use crate::label::Label;
use crate::sharded::{Listing, Page, size};
use crate::write::Write;

/// Over how many partitions the list of a project's teams is spread.
pub(crate) const TEAM_SHARDS: u8 = 4;
/// How many items one call reads by their keys.
pub(crate) const BATCH: usize = 100;

/// A team with what its writes are conditional on.
#[derive(Debug, Clone)]
pub struct TeamRow {
    pub team: Team,
    pub version: u64,
    /// How often somebody joined.
    pub joins: u64,
}

pub(crate) fn partition(project: &ProjectId, team: TeamId) -> String {
    format!("T#{project}#{team}")
}

pub fn team_key(project: &ProjectId, team: TeamId) -> Key {
    Key::new(partition(project, team), "TEAM")
}

pub(crate) fn list_partition(project: &ProjectId, shard: u8) -> String {
    format!("P#{project}#TEAMS#{shard}")
}

impl TeamRow {
    /// The team of an item, unless it is being deleted.
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
    let shard = team.id.uuid().as_bytes()[15] % TEAM_SHARDS;
    Ok(Write::create(team_key(project, team.id), team)?
        .targets([Target::new(TargetKind::Team, team.id)])
        .attribute("version", integer(1))
        .attribute("joins", integer(0))
        .attribute("gsi1pk", string(list_partition(project, shard)))
        .attribute("gsi1sk", string(format!("{}#{}", sortable(team.created_at), team.id))))
}

/// Replaces a team that nobody changed since `version`.
pub fn replace(project: &ProjectId, team: &Team, version: u64) -> Result<Write, Error> {
    Ok(Write::update(team_key(project, team.id), "SET d = :d, version = :new")
        .on("version = :old AND attribute_not_exists(deleting)")
        .entity(":d", team)?
        .value(":old", integer(version))
        .value(":new", integer(version + 1)))
}

/// Counts somebody who joins, and fails the transaction unless there is such a team.
pub fn join(project: &ProjectId, team: TeamId) -> Write {
    Write::update(team_key(project, team), "ADD joins :one")
        .labelled(Label::Team)
        .on("attribute_exists(pk) AND attribute_not_exists(deleting)")
        .value(":one", integer(1))
}

/// Fails the transaction unless there is such a team.
pub(crate) fn exists(project: &ProjectId, team: TeamId) -> Write {
    Write::check(team_key(project, team), "attribute_exists(pk) AND attribute_not_exists(deleting)")
}

impl Store {
    /// Calls the team that an anonymous user began with after what the user is called now. A team with another name, or with others in it,
    /// keeps its name; and so does this one when the table fails, as nothing depends on it. A unit for each KB.
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
            Err(error) => tracing::warn!(%error, "a personal team keeps the name of an anonymous user's"),
        }
    }

    pub async fn team(&self, project: &ProjectId, id: TeamId) -> Result<Option<TeamRow>, Error> {
        self.get(&team_key(project, id)).await?.map_or(Ok(None), TeamRow::of)
    }

    /// The teams of these ids that there are: one round trip, one unit each.
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

    /// The project's teams that `keep` keeps, by the time of their creation.
    pub async fn team_page(&self, project: &ProjectId, listing: Listing<'_>, keep: impl Fn(&Team) -> bool) -> Result<Page<Team>, Error> {
        let partitions = (0..TEAM_SHARDS).map(|shard| list_partition(project, shard)).collect();
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
