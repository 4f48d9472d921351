//! Projects and their keys.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | project | `P#<P>` | `PROJECT` | 1 unit to read, with every request |
//! | key | `P#<P>` | `KEY#<digest>` | see [`crate::project::key_set`] |
//! | list of projects | `PROJECTS` | `<P>` | read by the command line alone |
//! | link of an owned project | `T#internal#<team>` | `PROJECT#<P>` | one Query for each team of a user |
//!
//! A project that a team owns is written with its link, on the condition that the team is there and its creator a member of it. How a
//! project ends: [`crate::project::deletion`].

pub mod deletion;
pub mod key_set;

use crypto::password::hash::Hash;
use futures_util::future::try_join_all;
use model::project::key_set::NewKeys;
use model::project::{ApiKey, Project};
use model::trail::{Target, TargetKind};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, TeamId, UserId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Key, entity, integer, number, string};
use crate::keys::{api_key_key, project_key};
use crate::team::{self, BATCH, membership};
use crate::write::Write;

/// A project with the version that a change of it is conditional on.
#[derive(Debug, Clone)]
pub struct ProjectRow {
    pub project: Project,
    pub version: u64,
}

/// One line of the list of projects.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProjectLine {
    pub id: ProjectId,
    pub display_name: String,
}

pub(crate) fn line_key(project: &ProjectId) -> Key {
    Key::new("PROJECTS", project.as_str())
}

pub(crate) fn owned_key(team: TeamId, project: &ProjectId) -> Key {
    Key::new(team::partition(&ProjectId::internal(), team), format!("PROJECT#{project}"))
}

fn line(project: &Project) -> Result<Write, Error> {
    let line = ProjectLine { id: project.id.clone(), display_name: project.display_name.clone() };
    Write::put(line_key(&project.id), &line)
}

fn create(project: &Project) -> Result<[Write; 2], Error> {
    Ok([Write::create(project_key(&project.id), project)?.attribute("version", integer(1)), line(project)?])
}

/// A project in place of what it was at `version`.
pub(crate) fn replaced(project: &Project, version: u64) -> Result<[Write; 2], Error> {
    let update = Write::update(project_key(&project.id), "SET d = :d, version = :new")
        .on("version = :old")
        .entity(":d", project)?
        .value(":old", integer(version))
        .value(":new", integer(version + 1));
    Ok([update, line(project)?])
}

impl ProjectRow {
    pub fn of(item: crate::item::Item) -> Result<Self, Error> {
        let version = number(&item, "version").unwrap_or_default();
        Ok(Self { project: entity(item)?, version })
    }
}

impl Store {
    pub async fn project(&self, id: &ProjectId) -> Result<Option<ProjectRow>, Error> {
        self.get(&project_key(id)).await?.map(ProjectRow::of).transpose()
    }

    /// Creates a project with its first keys, all or nothing.
    pub async fn create_project(&self, project: &Project, keys: &NewKeys) -> Result<(), Error> {
        let mut writes = create(project)?.to_vec();
        writes.extend(key_set::create(&project.id, keys)?);
        self.transact(writes).await
    }

    /// Creates a project that a team of the project `internal` owns. [`Error::Conflict`] when `owner` is no member of the team.
    pub async fn create_owned_project(&self, project: &Project, team: TeamId, owner: UserId) -> Result<(), Error> {
        let internal = ProjectId::internal();
        let [project_write, line] = create(project)?;
        let writes = [
            team::exists(&internal, team),
            membership::is_member(&internal, team, owner),
            project_write.targets([Target::new(TargetKind::Team, team), Target::new(TargetKind::Project, &project.id)]),
            line,
            Write::put(owned_key(team, &project.id), &project.id)?,
        ];
        self.transact(writes).await
    }

    /// The projects that some teams own, each team's by their ids: a Query for each team, and a read for each hundred projects.
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

    async fn owned_ids(&self, team: TeamId) -> Result<Vec<ProjectId>, Error> {
        let query = self.query().key_condition_expression("pk = :pk AND begins_with(sk, :sk)");
        let query = query
            .expression_attribute_values(":pk", string(team::partition(&ProjectId::internal(), team)))
            .expression_attribute_values(":sk", string("PROJECT#"))
            .consistent_read(true);
        let ids = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        Ok(ids)
    }

    /// Whether the project has this key.
    pub async fn api_key(&self, project: &ProjectId, secret: &SecretString) -> Result<Option<ApiKey>, Error> {
        self.get(&api_key_key(project, secret)).await?.map(entity).transpose()
    }

    /// Replaces a project that nobody changed since `version`.
    pub async fn update_project(&self, project: &Project, version: u64) -> Result<(), Error> {
        self.transact(replaced(project, version)?).await
    }

    /// Notes the cost of a bcrypt hash in its project, if none of the project is known to cost as
    /// much: at most nine times in the life of a project.
    pub async fn note_bcrypt_cost(&self, project: &Project, hash: &Hash) -> Result<(), Error> {
        let dearer = |cost: &u32| project.dearest_bcrypt_cost.is_none_or(|known| known < *cost);
        let Some(cost) = hash.bcrypt_cost().filter(dearer) else { return Ok(()) };
        let note = Write::update(project_key(&project.id), "SET d.dearest_bcrypt_cost = :cost, version = version + :one")
            .on("attribute_exists(pk) AND (attribute_not_exists(d.dearest_bcrypt_cost) OR d.dearest_bcrypt_cost < :cost)")
            .value(":cost", integer(cost))
            .value(":one", integer(1));
        match self.write_unrecorded(note).await {
            Ok(()) | Err(Error::Conflict(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// All projects of the table, by id. For people at a command line: the list is one partition.
    pub async fn projects(&self) -> Result<Vec<ProjectLine>, Error> {
        let query = self
            .query()
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", crate::item::string("PROJECTS"))
            .consistent_read(true);
        let lines = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        Ok(lines)
    }
}
