//! Adds the entries of a project's audit trail to its hash chain after they are written, and counts
//! them in the project's figures.
//!
//! A step is started when there are new entries: by the table's stream on AWS, by a task in the
//! gateway. Without new entries, no step runs.

use std::collections::BTreeSet;

use flows::App;
use serde_json::Value;
use store::trail::chain::project_of;
use wire::id::ProjectId;

use crate::{chain, recount};

/// The projects in an event of the table's stream.
pub fn projects(event: &Value) -> BTreeSet<ProjectId> {
    let records = event["Records"].as_array().into_iter().flatten();
    records.filter_map(|record| project_of(record["dynamodb"]["Keys"]["pk"]["S"].as_str()?)).collect()
}

/// Links all entries of a project's trail that are not linked yet, and returns their number. Does
/// nothing for a deleted project.
///
/// Also updates the project's figures (`crate::counting`). If entries were linked and the project
/// was never counted or its lists of users are incomplete, all its users are counted and listed,
/// unless there are more than [`MAX_USERS`](recount::MAX_USERS).
pub async fn link(app: &App, project: &ProjectId) -> Result<usize, store::Error> {
    let linked = chain::link(app, project).await?;
    let totals = if linked > 0 { Some(app.store.totals(project).await?) } else { None };
    if let Some(totals) = totals.filter(|totals| !totals.is_complete()) {
        // The totals of a counted project show whether it is too large to recount here.
        let is_large = totals.counted_at.is_some() && totals.users() > recount::MAX_USERS;
        let counted = if is_large { Ok(None) } else { recount::totals(app, project, recount::MAX_USERS).await };
        match counted {
            // A failed count must not keep entries from being linked. The next link tries again.
            Err(error) => tracing::warn!(%error, %project, "the users of a project were not counted"),
            Ok(None) => tracing::warn!(%project, "a project has too many users to be counted here: run `gateway metrics recount`"),
            Ok(Some(_)) => {}
        }
    }
    Ok(linked)
}
