//! Deletions that may take longer than the request that begins them are noted, for a worker to end.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | ending | `ENDINGS` | `PROJECT#<P>`, `TEAM#<P>#<team>`, `USER#<P>#<user>` | 1 unit to write, 1 for about 20 to read |
//!
//! Deletions are rare, so that one partition has them all; a small team or user is deleted in one transaction and is never noted.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::id::{ProjectId, TeamId, UserId};

use crate::client::Store;
use crate::error::Error;
use crate::item::{Key, entity, string};
use crate::write::Write;

const PK: &str = "ENDINGS";

/// What is being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// A project, which was created then.
    Project {
        #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
        since: Timestamp,
    },
    Team {
        id: TeamId,
    },
    User {
        id: UserId,
    },
}

/// A deletion that was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending {
    pub project: ProjectId,
    pub what: Ended,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub begun_at: Timestamp,
}

impl Ending {
    fn key(&self) -> Key {
        let project = &self.project;
        let sk = match self.what {
            Ended::Project { .. } => format!("PROJECT#{project}"),
            Ended::Team { id } => format!("TEAM#{project}#{id}"),
            Ended::User { id } => format!("USER#{project}#{id}"),
        };
        Key::new(PK, sk)
    }

    /// Notes the deletion, or again.
    pub(crate) fn note(&self) -> Result<Write, Error> {
        Write::put(self.key(), self)
    }
}

impl Store {
    /// All deletions that were begun and are not known to be done.
    pub async fn endings(&self) -> Result<Vec<Ending>, Error> {
        self.endings_from("").await
    }

    /// The teams of a project whose deletion was begun.
    pub(crate) async fn ending_teams(&self, project: &ProjectId) -> Result<Vec<TeamId>, Error> {
        let endings = self.endings_from(&format!("TEAM#{project}#")).await?;
        let team = |ending: &Ending| match ending.what {
            Ended::Team { id } => Some(id),
            _ => None,
        };
        Ok(endings.iter().filter_map(team).collect())
    }

    async fn endings_from(&self, beginning: &str) -> Result<Vec<Ending>, Error> {
        let query = self.query();
        // An empty text is no key that DynamoDB takes.
        let query = match beginning {
            "" => query.key_condition_expression("pk = :pk"),
            sk => query.key_condition_expression("pk = :pk AND begins_with(sk, :sk)").expression_attribute_values(":sk", string(sk)),
        };
        let query = query.expression_attribute_values(":pk", string(PK)).consistent_read(true);
        let endings = self.query_all(query).await?.into_iter().map(entity).collect::<Result<_, _>>()?;
        Ok(endings)
    }

    /// Notes that a deletion is done.
    pub async fn forget_ending(&self, ending: &Ending) -> Result<(), Error> {
        self.write(Write::delete(ending.key())).await
    }
}
