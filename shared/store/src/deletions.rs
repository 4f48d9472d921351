//! Notes about deletions that may take longer than their requests, so that a worker can complete
//! the deletions.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | note of a deletion | `ENDINGS` | `PROJECT#<P>`, `TEAM#<P>#<team>`, `USER#<P>#<user>` | 1 unit to write one, 2 in a transaction; 1 unit to read about 20 |
//!
//! All deletions share one partition, because they are rare. A small team or user is deleted in one
//! transaction, without a note.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, TeamId, UserId};

use crate::table::{Error, Key, Label, Store, Write, entity, integer, is_made, string};

const PK: &str = "ENDINGS";

/// The target of a deletion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeletionTarget {
    /// A project.
    Project {
        /// The time when the project was created.
        #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
        since: Timestamp,
    },
    /// A team.
    Team {
        /// The id of the team.
        id: TeamId,
    },
    /// A user.
    User {
        /// The id of the user.
        id: UserId,
    },
}

/// A deletion that has started and may be incomplete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingDeletion {
    /// The deleted project, or the project of the deleted team or user.
    pub project: ProjectId,
    /// What is being deleted.
    pub what: DeletionTarget,
    /// When the deletion began.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub begun_at: Timestamp,
}

fn project_note_key(project: &ProjectId) -> Key {
    Key::new(PK, format!("PROJECT#{project}"))
}

/// Fails the transaction while a deleted project with this id may still have data, because the
/// worker would also delete the new project's data.
pub(crate) fn no_project_ending(project: &ProjectId) -> Write {
    Write::check(project_note_key(project), "attribute_not_exists(pk)").labelled(Label::Ending)
}

impl PendingDeletion {
    fn key(&self) -> Key {
        let project = &self.project;
        match self.what {
            DeletionTarget::Project { .. } => project_note_key(project),
            DeletionTarget::Team { id } => Key::new(PK, format!("TEAM#{project}#{id}")),
            DeletionTarget::User { id } => Key::new(PK, format!("USER#{project}#{id}")),
        }
    }

    /// Writes the note, and replaces an earlier note of the same deletion.
    pub(crate) fn note(&self) -> Result<Write, Error> {
        Write::put(self.key(), self)
    }
}

impl Store {
    /// All deletions that have a note: they have started, and are not known to be complete.
    pub async fn endings(&self) -> Result<Vec<PendingDeletion>, Error> {
        self.endings_from("").await
    }

    /// The project's teams whose deletions have a note.
    pub(crate) async fn ending_teams(&self, project: &ProjectId) -> Result<Vec<TeamId>, Error> {
        let endings = self.endings_from(&format!("TEAM#{project}#")).await?;
        let team = |ending: &PendingDeletion| match ending.what {
            DeletionTarget::Team { id } => Some(id),
            _ => None,
        };
        Ok(endings.iter().filter_map(team).collect())
    }

    async fn endings_from(&self, beginning: &str) -> Result<Vec<PendingDeletion>, Error> {
        let query = self.query();
        // DynamoDB rejects empty strings as keys.
        let query = match beginning {
            "" => query.key_condition_expression("pk = :pk"),
            sk => query.key_condition_expression("pk = :pk AND begins_with(sk, :sk)").expression_attribute_values(":sk", string(sk)),
        };
        let query = query.expression_attribute_values(":pk", string(PK)).consistent_read(true);
        let endings = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        Ok(endings)
    }

    /// The deletion note of the project with this id.
    pub async fn project_ending(&self, project: &ProjectId) -> Result<Option<PendingDeletion>, Error> {
        self.get(&project_note_key(project)).await?.map(entity).transpose()
    }

    /// Deletes the note of a complete deletion. If a later deletion has replaced the note, the note
    /// is kept.
    pub async fn forget_ending(&self, ending: &PendingDeletion) -> Result<(), Error> {
        let delete = Write::delete(ending.key()).on("d.begun_at = :begun");
        is_made(self.write(delete.value(":begun", integer(ending.begun_at.as_millisecond()))).await).map(drop)
    }
}
