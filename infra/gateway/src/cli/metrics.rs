//! `gateway metrics …`: counts the users and teams of projects.

use anyhow::Context as _;
use clap::Subcommand;
use model::metrics::tally::{ANONYMOUS, TEAMS, USERS};

use super::input::project_id;
use super::tools::Tools;
use crate::say::say;

#[derive(Subcommand)]
pub(super) enum Command {
    /// Recount the users and teams of projects while servers keep running. Each project with more
    /// than 2000 users needs this once after an update from a version that did not count them
    Recount {
        /// Only this project
        #[arg(long, value_name = "ID")]
        project: Option<String>,
    },
}

impl Command {
    pub(super) async fn run(self, tools: &Tools) -> anyhow::Result<()> {
        let Self::Recount { project } = self;
        let projects = match project {
            Some(id) => vec![project_id(&id)?],
            None => tools.store.projects().await?.into_iter().map(|line| line.id).collect(),
        };
        let app = tools.app()?;
        for id in projects {
            tools.store.project(&id).await?.with_context(|| format!("project {id} does not exist"))?;
            let counted = workers::recount::totals(&app, &id, usize::MAX).await;
            let counted = counted.with_context(|| format!("cannot count the users and teams of project {id}; try again"))?;
            let of = |name| counted.as_ref().map(|tally| tally.get(name)).unwrap_or_default();
            say!("project {id}: users {}, anonymous users {}, teams {}", of(USERS), of(ANONYMOUS), of(TEAMS));
        }
        Ok(())
    }
}
