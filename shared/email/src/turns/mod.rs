//! Decides which call may use a renderer next.
//!
//! A project counts as slow for a while after its emails took long to render. The emails of all
//! slow projects together use at most half of the renderers. All previews together also use at most
//! half. The previews of one project, and the emails of one slow project, are rendered one call
//! after another. Therefore, however many such calls there are, the next call of another project
//! waits for at most one of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};

/// The maximum number of renderers at a time: as many as fit in the memory of a small function.
const AT_ONCE: usize = 2;
/// The maximum number of renderers for previews at a time; as many again may render emails of slow
/// projects.
const HALF: usize = 1;
/// A project is slow if rendering a call's emails took this long on average and [`SLOW_CALL`] in
/// total, so that a hiccup of the machine is not mistaken for a slow template.
const SLOW_EMAIL: Duration = Duration::from_millis(100);
const SLOW_CALL: Duration = Duration::from_millis(500);
/// How long a project counts as slow after its last slow call.
const SLOW_FOR: Duration = Duration::from_secs(60);

/// Decides which call may use a renderer next.
pub(crate) struct Turns {
    all: Semaphore,
    previews: RendererPool,
    slow: RendererPool,
    /// The slow projects, each with the time until which it counts as slow.
    slow_until: Mutex<Vec<(String, Instant)>>,
}

/// A share of the renderers for certain projects, each of which may use one renderer at a time.
struct RendererPool {
    renderers: Semaphore,
    /// The projects using or awaiting a renderer, each with a semaphore of one permit.
    projects: Mutex<Vec<(String, Arc<Semaphore>)>>,
}

/// The permits for using a renderer: one of those shared by all renderers and, in a pool, also the
/// project's permit and one of the pool's permits.
pub(crate) type Turn<'a> = (Option<OwnedSemaphorePermit>, Option<SemaphorePermit<'a>>, Option<SemaphorePermit<'a>>);

impl Turns {
    pub(crate) const fn new() -> Self {
        Self {
            all: Semaphore::const_new(AT_ONCE),
            previews: RendererPool::new(),
            slow: RendererPool::new(),
            slow_until: Mutex::new(Vec::new()),
        }
    }

    pub(crate) async fn wait_for_email(&self, project: &str) -> Turn<'_> {
        if !self.is_slow(project) {
            let any = self.all.acquire().await.ok();
            // In the meantime, another call may have found the project to be slow.
            if !self.is_slow(project) {
                return (None, None, any);
            }
        }
        self.wait_in(&self.slow, project).await
    }

    pub(crate) async fn wait_for_preview(&self, project: &str) -> Turn<'_> {
        self.wait_in(&self.previews, project).await
    }

    async fn wait_in<'a>(&'a self, pool: &'a RendererPool, project: &str) -> Turn<'a> {
        let project = pool.semaphore(project).acquire_owned().await.ok();
        let renderer = pool.renderers.acquire().await.ok();
        (project, renderer, self.all.acquire().await.ok())
    }

    /// Records how long the emails of a call took.
    pub(crate) fn took(&self, project: &str, time: Duration, emails: usize) {
        let emails = u32::try_from(emails).unwrap_or(u32::MAX);
        if time >= SLOW_CALL && time >= SLOW_EMAIL.saturating_mul(emails) {
            let (mut slow, now) = (lock(&self.slow_until), Instant::now());
            slow.retain(|(id, until)| *until > now && id != project);
            slow.push((project.to_owned(), now + SLOW_FOR));
        }
    }

    pub(crate) fn is_slow(&self, project: &str) -> bool {
        let now = Instant::now();
        lock(&self.slow_until).iter().any(|(id, until)| id == project && *until > now)
    }
}

impl RendererPool {
    const fn new() -> Self {
        Self { renderers: Semaphore::const_new(HALF), projects: Mutex::new(Vec::new()) }
    }

    fn semaphore(&self, project: &str) -> Arc<Semaphore> {
        let mut projects = lock(&self.projects);
        projects.retain(|(_, turn)| Arc::strong_count(turn) > 1);
        if let Some((_, turn)) = projects.iter().find(|(id, _)| id == project) {
            return Arc::clone(turn);
        }
        let turn = Arc::new(Semaphore::new(1));
        projects.push((project.to_owned(), Arc::clone(&turn)));
        turn
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
