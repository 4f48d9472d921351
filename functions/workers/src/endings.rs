//! Completes deletions that requests or commands began: those of projects; and those of very large
//! teams, and of users in very many teams, that the client did not finish by repeating the request.
//!
//! A step may be interrupted, or run in parallel with another step or a request. The table alone
//! says what is left to delete.
//!
//! If a project with the noted id exists, for example because a backup was imported, nothing of it
//! is deleted, and the note is removed: its data and what is left of the deleted project have the
//! same keys, so they belong to the project that exists.

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

/// The least time for a deletion: enough to find that nothing is left to delete.
const LEAST_SHARE: Duration = Duration::from_secs(10);

/// Continues the pending deletions, one after another, and stops at `end`. Skips those that a
/// client may still complete by repeating its request (`PATIENCE`). Returns how many deletions this
/// step completed.
///
/// The time is divided equally among the deletions that are left, but none gets less than
/// `LEAST_SHARE`. Each minute begins with another deletion. So no deletion waits for the end of
/// another one, even if that takes days, or if the worker is stopped in it each time.
pub async fn step(app: &App, end: Instant) -> Result<usize, store::Error> {
    let now = app.clock.now();
    let mut endings = app.store.endings().await?;
    endings.retain(|ending| matches!(ending.what, Ended::Project { .. }) || now.duration_since(ending.begun_at) >= PATIENCE);
    let minute = usize::try_from(now.as_second() / 60).unwrap_or_default();
    let first = minute.checked_rem(endings.len()).unwrap_or_default();
    endings.rotate_left(first);
    let (mut done, count) = (0, endings.len());
    for (number, ending) in endings.iter().enumerate() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let share = (left / u32::try_from(count - number).unwrap_or(u32::MAX)).max(LEAST_SHARE).min(left);
        match complete(app, ending, Instant::now() + share).await {
            Ok(is_done) => done += usize::from(is_done),
            // The next step continues this deletion; other deletions are not affected.
            Err(error) => tracing::warn!(%error, ?ending, "a deletion could not be completed"),
        }
    }
    Ok(done)
}

/// Continues a deletion until `end`, and deletes its note if it is complete. Returns whether it is.
async fn complete(app: &App, ending: &Ending, end: Instant) -> Result<bool, store::Error> {
    let is_done = work(app, ending, end).await?;
    if is_done {
        app.store.forget_ending(ending).await?;
    }
    Ok(is_done)
}

/// Continues a deletion. Returns whether it is complete: nothing is left to delete and, for a
/// project, no late write can follow, or the project exists again.
async fn work(app: &App, ending: &Ending, end: Instant) -> Result<bool, store::Error> {
    let (store, project, now) = (&app.store, &ending.project, app.clock.now());
    match ending.what {
        Ended::Project { since } => {
            if store.project(project).await?.is_some() {
                return Ok(true);
            }
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
