//! Ends deletions: of projects, and of teams with very many members and users in very many teams whose request was not sent again.
//!
//! A step may be interrupted, or run beside another or a request: what is left of a deletion is what the table has of it.

use std::time::Duration;

use flows::App;
use jiff::SignedDuration;
use store::deletions::{Ended, Ending};
use store::project::deletion::{LATE_WRITES, Purge};
use store::team::deletion::Deletion;
use store::user::account::Outcome;
use tokio::time::Instant;

/// How long a team or a user is left to the request that began the deletion, which may be sent again. A project's only begins it.
const PATIENCE: SignedDuration = SignedDuration::from_secs(30);
/// How much of a step's time is kept for the writes that run at its end.
pub const MARGIN: Duration = Duration::from_secs(15);

/// Works on every deletion until `end`; says how many are done.
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
            // The next step goes on with it; the others are no worse off.
            Err(error) => tracing::warn!(%error, ?ending, "a deletion does not come to its end"),
        }
        if Instant::now() >= end {
            break;
        }
    }
    Ok(done)
}

/// Whether nothing is left of what was deleted.
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
