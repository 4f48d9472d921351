//! Projects and their keys.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | project | `P#<P>` | `PROJECT` | 1 unit to read, with every request, unless a remembered proof saves the read (`GATELET_PROJECT_CACHE_SECONDS`) |
//! | levels of the configuration | `P#<P>` | `CONFIG` | 1 unit for each 4 KB to read, 2 for each KB to write; used only by operations on the settings |
//! | key | `P#<P>` | `KEY#<digest>` | see [`crate::project::key_set`] |
//! | RSA keys | `P#<P>` | `SIGNING` | see [`crate::project::signing_key`] |
//! | list of projects | `PROJECTS` | `<P>` | read only by the gateway |
//! | link to an owned project | `T#internal#<team>` | `PROJECT#<P>` | one Query for each team of a user |
//!
//! A team's project is created, transferred and deleted together with its link. The project is
//! created only if the team exists and the creator is a member of the team. Adding a project to a
//! team also increments a count in the team's item ([`team::join`], or `team::takes` for a client),
//! so that the team is not deleted at the same time. [`crate::project::deletion`] describes how a
//! project ends.

pub mod deletion;
pub mod key_set;
pub mod signing_key;

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use crypto::password::hash::Hash;
use futures_util::future::try_join_all;
use model::project::config::Levels;
use model::project::key_set::NewKeys;
use model::project::{ApiKey, Project};
use model::quota::Quota;
use model::trail::{Target, TargetKind};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, TeamId, UserId};

use crate::deletions::no_project_ending;
use crate::keys::{api_key_key, project_key, team_key};
use crate::table::row::Items;
use crate::table::transfer::key_in;
use crate::table::{BATCH, Error, Key, Store, Write, entity, integer, is_made, number};
use crate::team::{self, membership};

/// A project with its version; changes are conditional on the version.
#[derive(Debug, Clone)]
pub struct ProjectRow {
    /// The project.
    pub project: Project,
    /// The version that was read.
    pub version: u64,
}

/// An entry in the list of projects.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProjectLine {
    /// The id.
    pub id: ProjectId,
    /// The name.
    pub display_name: String,
}

pub(crate) fn line_key(project: &ProjectId) -> Key {
    Key::new("PROJECTS", project.as_str())
}

pub(crate) fn owned_key(team: TeamId, project: &ProjectId) -> Key {
    Key::new(team::partition(&ProjectId::internal(), team), format!("PROJECT#{project}"))
}

/// The team that owns a project.
fn owner(project: &Project) -> Option<TeamId> {
    project.owner_team_id.as_deref().and_then(|id| TeamId::parse(id).ok())
}

fn line(project: &Project) -> Result<Write, Error> {
    let line = ProjectLine { id: project.id.clone(), display_name: project.display_name.clone() };
    Write::put(line_key(&project.id), &line)
}

fn create(project: &Project) -> Result<[Write; 2], Error> {
    Ok([Write::create(project_key(&project.id), project)?.attribute("version", integer(1)), line(project)?])
}

/// Replaces a project that was read at `version`.
pub(crate) fn replaced(project: &Project, version: u64) -> Result<[Write; 2], Error> {
    let update = Write::update(project_key(&project.id), "SET d = :d, version = :new")
        .on("version = :old")
        .entity(":d", project)?
        .value(":old", integer(version))
        .value(":new", integer(version + 1));
    Ok([update, line(project)?])
}

fn levels_key(project: &ProjectId) -> Key {
    Key::new(format!("P#{project}"), "CONFIG")
}

/// Replaces the levels of a configuration. Write the levels only together with the project, whose
/// version shows whether the levels have changed.
pub(crate) fn levels_of(project: &ProjectId, levels: &Levels) -> Result<Write, Error> {
    Write::put(levels_key(project), levels)
}

impl ProjectRow {
    /// Reads a project from the item that contains it.
    pub fn of(item: crate::table::Item) -> Result<Self, Error> {
        let version = number(&item, "version").unwrap_or_default();
        Ok(Self { project: entity(item)?, version })
    }

    /// A project and its version.
    pub fn shared(items: &Items, project: &ProjectId) -> Result<Option<(Arc<Project>, u64)>, Error> {
        let shared = |item| Self::of(item).map(|row| (Arc::new(row.project), row.version));
        let found = items.read_as(&project_key(project), shared)?;
        Ok(found.map(|found| (Arc::clone(&found.0), found.1)))
    }
}

impl Store {
    /// The project with this id.
    pub async fn project(&self, id: &ProjectId) -> Result<Option<ProjectRow>, Error> {
        self.get(&project_key(id)).await?.map(ProjectRow::of).transpose()
    }

    /// Creates a project with its first keys and, if a team owns it, its link, in one transaction.
    /// Fails with:
    ///
    /// - [`Error::Conflict`] if the project's id or a key is in use
    /// - [`Ending`](crate::Label::Ending) if a deleted project with this id may have data left
    /// - [`Team`](crate::Label::Team) if the team does not exist
    pub async fn create_project(&self, project: &Project, keys: &NewKeys) -> Result<(), Error> {
        let mut writes = create(project)?.to_vec();
        writes.push(no_project_ending(&project.id));
        if let Some(team) = owner(project) {
            writes.extend([team::join(&ProjectId::internal(), team), Write::put(owned_key(team, &project.id), &project.id)?]);
        }
        writes.extend(key_set::create(&project.id, keys)?);
        self.transact(writes).await
    }

    /// Creates a project for a team of the internal project, with the levels of its configuration.
    /// Fails with [`Error::Conflict`] if `owner` is not a member of the team or the project's id is
    /// in use. Fails with [`Count`](crate::Label::Count) if the team no longer exists or is full.
    pub async fn create_owned_project(&self, project: &Project, levels: &Levels, team: TeamId, owner: UserId) -> Result<(), Error> {
        let internal = ProjectId::internal();
        let [project_write, line] = create(project)?;
        let writes = [
            team::takes(team, &project.id, Quota::Projects.max()),
            membership::is_member(&internal, team, owner),
            project_write.targets([Target::new(TargetKind::Team, team), Target::new(TargetKind::Project, &project.id)]),
            line,
            levels_of(&project.id, levels)?,
            Write::put(owned_key(team, &project.id), &project.id)?,
        ];
        self.transact(writes).await
    }

    /// Moves a project from one team of the internal project to another. Fails with
    /// [`Error::Conflict`] if the project has changed since it was read or `user` is not a member
    /// of both teams. Fails with [`Count`](crate::Label::Count) if the new team no longer exists or
    /// is full.
    pub async fn transfer_project(&self, row: ProjectRow, (old, new): (TeamId, TeamId), user: UserId) -> Result<(), Error> {
        if old == new {
            return Ok(());
        }
        let (internal, ProjectRow { mut project, version }) = (ProjectId::internal(), row);
        project.owner_team_id = Some(new.to_string());
        let [project_write, line] = replaced(&project, version)?;
        let targets =
            [Target::new(TargetKind::Project, &project.id), Target::new(TargetKind::Team, old), Target::new(TargetKind::Team, new)];
        let writes = [
            team::takes(new, &project.id, Quota::Projects.max()),
            membership::is_member(&internal, old, user),
            membership::is_member(&internal, new, user),
            project_write.targets(targets),
            line,
            Write::delete(owned_key(old, &project.id)),
            Write::put(owned_key(new, &project.id), &project.id)?,
        ];
        self.transact(writes).await
    }

    /// Makes room in a full team by removing projects that no longer belong to it from the set in
    /// the team's item. Returns `None` if the team does not exist, and `false` if the team is
    /// really full. Costs a Query and the reads of [`Self::owned_projects`].
    pub async fn makes_room(&self, team: TeamId) -> Result<Option<bool>, Error> {
        let internal = ProjectId::internal();
        // The team is read first, because adding a project afterwards changes `joins`.
        let Some(row) = self.team(&internal, team).await? else { return Ok(None) };
        let owned = self.owned_projects(&[team]).await?;
        if owned.len() >= Quota::Projects.max() {
            return Ok(Some(false));
        }
        let ids: Vec<String> = owned.iter().map(|project| project.id.to_string()).collect();
        let update = if ids.is_empty() { "REMOVE projects" } else { "SET projects = :owned" };
        let mut write = Write::update(team_key(&internal, team), update).on("joins = :joins").value(":joins", integer(row.joins));
        if !ids.is_empty() {
            write = write.value(":owned", AttributeValue::Ss(ids));
        }
        match self.write_unrecorded(write).await {
            // Another request changed the team, so the caller must try again.
            Ok(()) | Err(Error::Conflict(_)) => Ok(Some(true)),
            Err(error) => Err(error),
        }
    }

    /// Gives a project to a team of the internal project, for the operator, no matter who owns the
    /// project. Fails with [`Error::Conflict`] if the project has changed since it was read, and
    /// with [`Team`](crate::Label::Team) if the team does not exist.
    pub async fn give_project(&self, row: ProjectRow, new: TeamId) -> Result<(), Error> {
        let ProjectRow { mut project, version } = row;
        let old = owner(&project).filter(|old| *old != new);
        project.owner_team_id = Some(new.to_string());
        let [project_write, line] = replaced(&project, version)?;
        let targets = [new].into_iter().chain(old).map(|team| Target::new(TargetKind::Team, team));
        let targets = targets.chain([Target::new(TargetKind::Project, &project.id)]);
        let link = Write::put(owned_key(new, &project.id), &project.id)?;
        let writes = [team::join(&ProjectId::internal(), new), project_write.targets(targets), line, link];
        self.transact(writes.into_iter().chain(old.map(|old| Write::delete(owned_key(old, &project.id))))).await
    }

    /// The projects owned by these teams, grouped by team and ordered by id. Costs one Query per
    /// team, and one read for each hundred projects.
    pub async fn owned_projects(&self, teams: &[TeamId]) -> Result<Vec<Project>, Error> {
        let ids = try_join_all(teams.iter().map(|team| self.owned_ids(*team))).await?;
        let keys: Vec<Key> = ids.iter().flatten().map(project_key).collect();
        let mut projects = Vec::with_capacity(keys.len());
        for chunk in keys.chunks(BATCH) {
            let mut items = self.get_many(chunk.iter().cloned()).await?;
            let found = chunk.iter().filter_map(|key| items.take(key)).map(entity);
            projects.extend(found.collect::<Result<Vec<Project>, Error>>()?);
        }
        Ok(projects)
    }

    /// Whether a team owns projects, which is possible only in the project `internal`. Costs one
    /// Query, and one read for each hundred projects, because links to deleted projects do not
    /// count.
    pub async fn owns_projects(&self, project: &ProjectId, team: TeamId) -> Result<bool, Error> {
        Ok(project.is_internal() && !self.owned_projects(&[team]).await?.is_empty())
    }

    /// Whether a user is the only member of a team that owns projects. Costs two Queries and the
    /// reads of [`Self::owns_projects`].
    pub async fn is_last_owner(&self, project: &ProjectId, team: TeamId, user: UserId) -> Result<bool, Error> {
        let (members, _) = self.members(project, team, None, 2).await?;
        Ok(members.iter().all(|member| member.user_id == user) && self.owns_projects(project, team).await?)
    }

    /// The existing projects among at most 100 ids, by id. Costs one read.
    pub async fn projects_by_id(&self, ids: &[ProjectId]) -> Result<HashMap<ProjectId, Project>, Error> {
        let mut items = self.get_many(ids.iter().map(project_key)).await?;
        let found = ids.iter().filter_map(|id| items.take(&project_key(id))).map(entity::<Project>);
        found.map(|project| project.map(|project| (project.id.clone(), project))).collect()
    }

    /// The ids of a team's projects, in ascending order; some of these projects may have been
    /// deleted. Costs one Query.
    pub async fn owned_ids(&self, team: TeamId) -> Result<Vec<ProjectId>, Error> {
        let query = self.query_prefix(team::partition(&ProjectId::internal(), team), "PROJECT#");
        let ids = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        Ok(ids)
    }

    /// The project's API key with this secret.
    pub async fn api_key(&self, project: &ProjectId, secret: &SecretString) -> Result<Option<ApiKey>, Error> {
        self.get(&api_key_key(project, secret)).await?.map(entity).transpose()
    }

    /// The project's keys among at most 100 secrets, by the digests of the secrets. Costs one round
    /// trip.
    pub async fn api_keys(&self, project: &ProjectId, secrets: &[SecretString]) -> Result<HashMap<Digest, ApiKey>, Error> {
        let mut items = self.get_many(secrets.iter().map(|secret| api_key_key(project, secret))).await?;
        let found = |secret: &SecretString| {
            let key = items.entity(&api_key_key(project, secret)).transpose()?;
            Some(key.map(|key| (Digest::of(secret.expose_secret()), key)))
        };
        secrets.iter().filter_map(found).collect()
    }

    /// Replaces a project that has not changed since `version`, together with the levels of its
    /// configuration if `levels` is set.
    pub async fn update_project(&self, project: &Project, version: u64, levels: Option<&Levels>) -> Result<(), Error> {
        let levels = levels.map(|levels| levels_of(&project.id, levels)).transpose()?;
        self.transact(replaced(project, version)?.into_iter().chain(levels)).await
    }

    /// The levels of a project's configuration. If no levels are stored, the settings belong to the
    /// environment.
    pub async fn levels(&self, project: &Project) -> Result<Levels, Error> {
        let stored: Option<Levels> = self.get(&levels_key(&project.id)).await?.map(entity).transpose()?;
        Ok(stored.map_or_else(|| Levels::of(project), |levels| levels.completed(project)))
    }

    /// Records the cost of a bcrypt hash in the project if it is the highest so far, at most nine
    /// times per project. Does nothing if the hash is not a bcrypt hash.
    pub async fn note_bcrypt_cost(&self, project: &Project, hash: &Hash) -> Result<(), Error> {
        let dearer = |cost: &u32| project.dearest_bcrypt_cost.is_none_or(|known| known < *cost);
        let Some(cost) = hash.bcrypt_cost().filter(dearer) else { return Ok(()) };
        let note = Write::update(project_key(&project.id), "SET d.dearest_bcrypt_cost = :cost, version = version + :one")
            .on("attribute_exists(pk) AND (attribute_not_exists(d.dearest_bcrypt_cost) OR d.dearest_bcrypt_cost < :cost)")
            .value(":cost", integer(cost))
            .value(":one", integer(1));
        is_made(self.write_unrecorded(note).await).map(drop)
    }

    /// All projects in the table, by id. Only the gateway uses this list, because the list is a
    /// single partition.
    pub async fn projects(&self) -> Result<Vec<ProjectLine>, Error> {
        let query = self.query_partition("PROJECTS");
        let lines = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        Ok(lines)
    }
}

/// The project in a line of an exported table; `None` for any other item.
pub fn project_in(line: &str) -> Result<Option<ProjectId>, Error> {
    let key = key_in(line)?;
    let id = key.as_ref().and_then(|key| key.pk.strip_prefix("P#")).and_then(|id| ProjectId::parse(id).ok());
    Ok(id.filter(|id| key == Some(project_key(id))))
}
