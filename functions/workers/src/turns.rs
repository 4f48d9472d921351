//! Gives projects and queues turns to prepare entries or to send emails.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};

/// The number of entries that are read at once, with their projects and users. The number is
/// limited because a batch read has at most a hundred keys.
pub(crate) const CHUNK: usize = 50;
/// The maximum number of queues that are served at the same time for projects that have a mail
/// server. The number is limited because emails are in memory while they are sent.
const OWN: usize = 16;
/// The maximum number of entries being prepared at the same time, and therefore in memory.
const PREPARED: usize = 100;
/// The maximum number of slow projects whose entries are prepared, or whose emails are sent through
/// the deployment's sender, at the same time. Slow projects wait for the same renderer.
const SLOW: usize = 4;
/// After this time, a task does not start another chunk, so that other tasks get a turn.
pub(crate) const SHARE: Duration = Duration::from_secs(1);
/// The time for which the deployment's sender pauses if the mail service stops accepting emails.
pub(crate) const COOLDOWN: Duration = Duration::from_secs(1);

/// Gives projects and queues turns to prepare entries or to send emails. Emails through the
/// deployment's sender do not wait for the mail servers of projects, which may be slow. Such emails
/// wait for slow templates only if their project is slow.
pub(crate) struct Turns {
    /// One permit for each entry.
    prepare: Semaphore,
    pub(crate) slow: Semaphore,
    pub(crate) deployments: Semaphore,
    pub(crate) own: Semaphore,
}

impl Turns {
    pub(crate) fn new() -> Self {
        let [prepare, slow, deployments, own] = [PREPARED, SLOW, 1, OWN].map(Semaphore::new);
        Self { prepare, slow, deployments, own }
    }

    /// Waits for a project's turn to prepare `entries` entries. `None` after [`Self::end`].
    pub(crate) async fn to_prepare(&self, entries: usize, is_slow: bool) -> Option<SemaphorePermit<'_>> {
        let (turns, count) = if is_slow { (&self.slow, 1) } else { (&self.prepare, entries.clamp(1, CHUNK)) };
        turns.acquire_many(u32::try_from(count).unwrap_or(1)).await.ok()
    }

    /// Gives no more turns to tasks, which then start no more chunks. Chunks that have already
    /// started are still prepared, or are still claimed and sent.
    pub(crate) fn end(&self) {
        for turns in [&self.prepare, &self.slow, &self.deployments, &self.own] {
            turns.close();
        }
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.prepare.is_closed()
    }
}
