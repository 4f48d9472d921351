//! Adds the entries of a project's audit trail to its hash chain after they have been written, and
//! counts them in the project's figures.
//!
//! New entries start a step, on AWS through the table's stream and in the gateway through a task.
//! Without new entries, no step runs.

use std::collections::BTreeMap;

use flows::App;
use futures_util::future::try_join_all;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use store::table::stream::{Record, records};
use store::trail::carried::{CarriedEntry, entry_of};
use store::trail::chain::project_of;
use wire::clock::after;
use wire::id::ProjectId;

use crate::fail_point::reached;
use crate::{chain, recount};

/// The number of entries that are copied from the sessions and codes in a batch at the same time.
const SIDE_BY_SIDE: usize = 16;
/// Entries in sessions and codes that are older than this time cannot come from the stream, which
/// keeps changes for a day.
const MAX_DELAY: SignedDuration = SignedDuration::from_hours(25);
/// The time for which a batch is retried if the entries of one of its projects cannot be linked.
/// Meanwhile, the other projects wait.
const MAX_RETRIES: SignedDuration = SignedDuration::from_hours(1);

/// Copies the entries in the sessions and codes of a stream event to their trails, and links the
/// new entries of all projects in the event. Returns the number of linked entries.
///
/// If this function fails, the stream delivers the batch again. An entry that cannot be added
/// always fails the batch. A project whose entries cannot be linked fails the batch only for an
/// hour (`MAX_RETRIES`). Afterwards, the entries are linked together with the project's next
/// entries.
pub async fn process(app: &App, event: &Value) -> Result<usize, store::Error> {
    let records = records(event);
    let began_at = records.first().map_or(Timestamp::MAX, |record| record.at);
    // The event shows only which projects have new entries. The table shows which entries are not
    // linked.
    let mut since: BTreeMap<ProjectId, Option<Timestamp>> =
        records.iter().filter_map(|record| Some((project_of(&record.key.pk)?, None))).collect();
    since.extend(add_carried(app, records).await?);
    let (linked, failed) = link_all(app, since).await;
    let is_young = app.clock.now() < after(began_at, MAX_RETRIES);
    failed.filter(|_| is_young).map_or(Ok(linked), Err)
}

/// Like [`process`], but links only the entries that it copies from sessions and codes. A gateway
/// that shares its table with functions calls this function, because the gateway's own requests
/// write their entries directly. Fails only if an entry cannot be copied, because a project whose
/// entries cannot be linked must not delay the webhooks of other projects.
pub async fn process_carried(app: &App, event: &Value) -> Result<(), store::Error> {
    let since = add_carried(app, records(event)).await?;
    link_all(app, since).await;
    Ok(())
}

/// Links the new entries of the projects in `since`, from the given time on ([`link_since`]).
/// Returns the number of linked entries and the last error. All errors are logged.
async fn link_all(app: &App, since: BTreeMap<ProjectId, Option<Timestamp>>) -> (usize, Option<store::Error>) {
    let (mut linked, mut failed) = (0, None);
    for (project, since) in since {
        match link_since(app, &project, since).await {
            Ok(entries) => linked += entries,
            Err(error) => {
                tracing::error!(%error, %project, "the new entries of an audit trail could not be added to its chain");
                failed = Some(error);
            }
        }
    }
    (linked, failed)
}

/// Copies the entries in changed sessions and codes to the trails of projects that still exist, and
/// returns the time of each project's first entry.
async fn add_carried(app: &App, records: Vec<Record>) -> Result<BTreeMap<ProjectId, Option<Timestamp>>, store::Error> {
    let read = |record: Record| {
        let key = record.key.clone();
        let carried = entry_of(record);
        carried.inspect_err(|error| tracing::error!(%error, ?key, "the trail entry that an item carries cannot be parsed")).ok().flatten()
    };
    let mut of_projects: BTreeMap<ProjectId, Vec<CarriedEntry>> = BTreeMap::new();
    for carried in records.into_iter().filter_map(read) {
        of_projects.entry(carried.project.clone()).or_default().push(carried);
    }
    let mut first = BTreeMap::new();
    for (project, entries) in of_projects {
        if app.store.project(&project).await?.is_none() {
            continue;
        }
        for some in entries.chunks(SIDE_BY_SIDE) {
            try_join_all(some.iter().map(|carried| app.store.add_carried(carried))).await?;
        }
        reached("added", entries.len());
        let oldest = after(app.clock.now(), -MAX_DELAY);
        let at = entries.iter().map(|carried| carried.entry.at).filter(|at| *at > oldest).min();
        first.insert(project, at);
    }
    Ok(first)
}

/// Links all entries of a project's trail that are not linked yet, and returns the number of
/// entries. Does nothing for a deleted project.
///
/// Also updates the project's figures (`crate::counting`). If entries were linked, may also count
/// and list all users of the project. The users are counted and listed if the project was never
/// counted or its lists of users are incomplete, unless there are more users than
/// [`MAX_USERS`](recount::MAX_USERS).
pub async fn link(app: &App, project: &ProjectId) -> Result<usize, store::Error> {
    link_since(app, project, None).await
}

/// Like [`link`]. If `since` is set, entries from that time on are linked even if later entries
/// already have links, because the earlier entries were added late.
async fn link_since(app: &App, project: &ProjectId, since: Option<Timestamp>) -> Result<usize, store::Error> {
    let linked = chain::link(app, project, since).await?;
    let totals = if linked > 0 { Some(app.store.totals(project).await?) } else { None };
    if let Some(totals) = totals.filter(|totals| !totals.is_complete()) {
        // For a project that has been counted, the totals show whether it is too large to recount
        // here.
        let is_large = totals.counted_at.is_some() && totals.users() > recount::MAX_USERS;
        let counted = if is_large { Ok(None) } else { recount::totals(app, project, recount::MAX_USERS).await };
        match counted {
            // A failed count must not keep entries from being linked. The next link counts the
            // users again.
            Err(error) => tracing::warn!(%error, %project, "the users of a project were not counted"),
            Ok(None) => tracing::warn!(%project, "a project has too many users to be counted here: run `gateway metrics recount`"),
            Ok(Some(_)) => {}
        }
    }
    Ok(linked)
}
