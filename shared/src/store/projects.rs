//! Projects and their keys.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | project | `P#<P>` | `PROJECT` | 1 unit to read, with every request |
//! | key | `P#<P>` | `KEY#<digest>` | see [`super::key_sets`] |
//! | list of projects | `PROJECTS` | `<P>` | read by the command line alone |

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::{Error, Key, Store, Write, entity, integer, key_sets, number};
use crate::crypto::digest::Digest;
use crate::model::id::ProjectId;
use crate::model::key_set::NewKeys;
use crate::model::project::{ApiKey, Project};

/// A project with the version that a change of it is conditional on.
#[derive(Debug, Clone)]
pub struct ProjectRow {
    pub project: Project,
    pub version: u64,
}

pub fn project_key(project: &ProjectId) -> Key {
    Key::new(format!("P#{project}"), "PROJECT")
}

pub fn api_key_key(project: &ProjectId, key: &SecretString) -> Key {
    key_key(project, &Digest::of(key.expose_secret()))
}

pub(super) fn key_key(project: &ProjectId, digest: &Digest) -> Key {
    Key::new(format!("P#{project}"), format!("KEY#{digest}"))
}

/// One line of the list of projects.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ProjectLine {
    pub id: ProjectId,
    pub display_name: String,
}

impl ProjectRow {
    pub fn of(item: super::Item) -> Result<Self, Error> {
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
        let line = ProjectLine { id: project.id.clone(), display_name: project.display_name.clone() };
        let mut writes = vec![
            Write::create(project_key(&project.id), project)?.attribute("version", integer(1)),
            Write::put(Key::new("PROJECTS", project.id.as_str()), &line)?,
        ];
        writes.extend(key_sets::create(&project.id, keys)?);
        self.transact(writes).await
    }

    /// Whether the project has this key.
    pub async fn api_key(&self, project: &ProjectId, secret: &SecretString) -> Result<Option<ApiKey>, Error> {
        self.get(&api_key_key(project, secret)).await?.map(entity).transpose()
    }

    /// Replaces a project that nobody changed since `version`.
    pub async fn update_project(&self, project: &Project, version: u64) -> Result<(), Error> {
        let update = Write::update(project_key(&project.id), "SET d = :d, version = :new")
            .on("version = :old")
            .entity(":d", project)?
            .value(":old", integer(version))
            .value(":new", integer(version + 1));
        let line = ProjectLine { id: project.id.clone(), display_name: project.display_name.clone() };
        self.transact([update, Write::put(Key::new("PROJECTS", project.id.as_str()), &line)?]).await
    }

    /// All projects of the table, by id. For people at a command line: the list is one partition.
    pub async fn projects(&self) -> Result<Vec<ProjectLine>, Error> {
        let mut pages = self
            .client
            .query()
            .table_name(&self.table)
            .key_condition_expression("pk = :pk")
            .expression_attribute_values(":pk", super::string("PROJECTS"))
            .consistent_read(true)
            .into_paginator()
            .items()
            .send();
        let mut lines = Vec::new();
        while let Some(item) = pages.next().await {
            lines.push(entity(item.map_err(super::failure)?)?);
        }
        Ok(lines)
    }
}
