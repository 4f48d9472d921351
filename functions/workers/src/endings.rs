//! Completes deletions that requests or commands began: those of projects; and those of very large
//! teams, and of users in very many teams, that the client did not finish by repeating the request.
//!
//! A step may be interrupted, or run in parallel with another step or a request. The table alone
//! says what is left to delete.

use std::time::Duration;

use flows::App;
use jiff::SignedDuration;
use store::deletions::{Ended, Ending};
use store::project::deletion::{LATE_WRITES, Purge};
use store::team::deletion::Deletion;
use store::user::account::Outcome;
use tokio::time::Instant;

/// How long a client can repeat the request that began the deletion of a team or user before a
/// worker continues the deletion. For projects there is no wait, because a request only begins
/// their deletion.
const PATIENCE: SignedDuration = SignedDuration::from_secs(30);
/// Time of a step that is reserved for the writes at its end.
pub const MARGIN: Duration = Duration::from_secs(15);

/// Continues the pending deletions, one after another, and stops at `end`. Skips those that a
/// client may still complete by repeating its request (`PATIENCE`). Returns how many deletions this
/// step completed.
pub async fn step(app: &App, end: Instant) -> Result<usize, store::Error> {
    let mut done = 0;
    for ending in app.store.endings().await? {
        let is_recent = app.clock.now().duration_since(ending.begun_at) < PATIENCE;
        if is_recent && !matches!(ending.what, Ended::Project { .. }) {
            continue;
        }
        match work(app, &ending, end).await {
            Ok(true) => {
                app.store.forget_ending(&ending).await?;
                done += 1;
            }
            Ok(false) => {}
            // The next step continues this deletion; other deletions are not affected.
            Err(error) => tracing::warn!(%error, ?ending, "a deletion could not be completed"),
        }
        if Instant::now() >= end {
            break;
        }
    }
    Ok(done)
}

/// Continues a deletion. Returns whether it is complete: nothing is left to delete and, for a
/// project, no late write can follow.
async fn work(app: &App, ending: &Ending, end: Instant) -> Result<bool, store::Error> {
    let (store, project, now) = (&app.store, &ending.project, app.clock.now());
    match ending.what {
        Ended::Project { since } => {
            let purge = store.purge_project(project, since, now, end).await?;
            Ok(purge == Purge::Nothing && now.duration_since(ending.begun_at) >= LATE_WRITES)
        }
        Ended::Team { id } => {
            let doomed = store.doomed(project, id).await?;
            Ok(store.delete_team(project, id, None, doomed, ending.begun_at).await? != Deletion::Unfinished)
        }
        Ended::User { id } => {
            while Instant::now() < end {
                let Some(account) = store.account(project, id).await? else { return Ok(true) };
                if matches!(store.delete_account(project, &account, ending.begun_at).await?, Outcome::Done) {
                    return Ok(true);
                }
            }
            Ok(false)
        }
    }
}
