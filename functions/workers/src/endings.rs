//! Completes the deletions of projects, of very large teams, and of users in very many teams, after
//! requests or commands have begun them. The worker completes the deletion of a team or user only
//! if the client has not completed it by repeating its request.
//!
//! A step may be interrupted, or run in parallel with another step or a request. Only the table
//! shows which items are left to delete.
//!
//! The note of a pending deletion contains the id of the deleted project. If a project with this id
//! exists again, for example because a backup was imported, the note is removed and nothing is
//! deleted. The remaining data of the deleted project has the same keys and therefore belongs to
//! the existing project.

use std::time::Duration;

use flows::App;
use jiff::SignedDuration;
use store::deletions::{DeletionTarget, PendingDeletion};
use store::project::deletion::{LATE_WRITES, Purge};
use store::team::deletion::Deletion;
use store::user::account::Outcome;
use tokio::time::Instant;

/// The time that a client has to repeat the request that deletes a team or user, before a worker
/// continues the deletion. Deletions of projects are continued immediately, because requests only
/// begin them.
const REPEAT_TIMEOUT: SignedDuration = SignedDuration::from_secs(30);
/// The time that is reserved for the writes at the end of a step.
pub const MARGIN: Duration = Duration::from_secs(15);

/// The minimum time for a deletion, which is enough to find out that nothing is left.
const MIN_SHARE: Duration = Duration::from_secs(10);

/// Continues the pending deletions one after another, until `end`. Skips deletions that a client
/// may still complete by repeating its request (`REPEAT_TIMEOUT`). Returns the number of completed
/// deletions.
///
/// The time is divided equally among the remaining deletions, but each deletion gets at least
/// `MIN_SHARE`. Every minute, the worker begins with a different deletion, so that no deletion has
/// to wait for another deletion that takes days or stops the worker each time.
pub async fn step(app: &App, end: Instant) -> Result<usize, store::Error> {
    let now = app.clock.now();
    let mut endings = app.store.endings().await?;
    endings.retain(|ending| matches!(ending.what, DeletionTarget::Project { .. }) || now.duration_since(ending.begun_at) >= REPEAT_TIMEOUT);
    let minute = usize::try_from(now.as_second() / 60).unwrap_or_default();
    let first = minute.checked_rem(endings.len()).unwrap_or_default();
    endings.rotate_left(first);
    let (mut done, count) = (0, endings.len());
    for (number, ending) in endings.iter().enumerate() {
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        let share = (left / u32::try_from(count - number).unwrap_or(u32::MAX)).max(MIN_SHARE).min(left);
        match complete(app, ending, Instant::now() + share).await {
            Ok(is_done) => done += usize::from(is_done),
            // The next step continues the deletion. Other deletions are not affected.
            Err(error) => tracing::warn!(%error, ?ending, "a deletion could not be completed"),
        }
    }
    Ok(done)
}

/// Continues a deletion until `end`, and deletes its note once it is complete. Returns whether the
/// deletion is complete.
async fn complete(app: &App, ending: &PendingDeletion, end: Instant) -> Result<bool, store::Error> {
    let is_done = work(app, ending, end).await?;
    if is_done {
        app.store.forget_ending(ending).await?;
    }
    Ok(is_done)
}

/// Continues a deletion. Returns whether the deletion is complete. The deletion is complete when
/// nothing is left to delete. The deletion of a project is complete only once late writes are
/// impossible as well, or if the project exists again.
async fn work(app: &App, ending: &PendingDeletion, end: Instant) -> Result<bool, store::Error> {
    let (store, project, now) = (&app.store, &ending.project, app.clock.now());
    match ending.what {
        DeletionTarget::Project { since } => {
            if store.project(project).await?.is_some() {
                return Ok(true);
            }
            let purge = store.purge_project(project, since, now, end).await?;
            Ok(purge == Purge::Nothing && now.duration_since(ending.begun_at) >= LATE_WRITES)
        }
        DeletionTarget::Team { id } => {
            let doomed = store.doomed(project, id).await?;
            Ok(store.delete_team(project, id, None, doomed, ending.begun_at).await? != Deletion::Unfinished)
        }
        DeletionTarget::User { id } => {
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
