//! The connections to mail servers: limits their number, and skips servers that recently failed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;
use wire::id::ProjectId;

/// The maximum number of this process's open connections to the mail server of one project.
pub const CONNECTIONS: usize = 5;
/// How long to avoid a server that was unreachable or did not reply in time.
const COOLDOWN: Duration = Duration::from_secs(20);

/// The key includes the project, so projects that use the same host do not delay each other.
#[derive(Default)]
pub(super) struct ServerPools(Mutex<HashMap<(ProjectId, String, u16), Arc<ServerPool>>>);

/// The connections to the server of one project, shared by all of the project's emails.
pub(super) struct ServerPool {
    pub(super) slots: Semaphore,
    cooldown_until: Mutex<Option<Instant>>,
}

impl ServerPools {
    pub(super) fn pool(&self, project: &ProjectId, host: &str, port: u16) -> Arc<ServerPool> {
        let mut pools = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pools.retain(|_, pool| Arc::strong_count(pool) > 1 || pool.is_cooling_down());
        let pool = pools.entry((project.clone(), host.to_owned(), port));
        Arc::clone(pool.or_insert_with(|| Arc::new(ServerPool { slots: Semaphore::new(CONNECTIONS), cooldown_until: Mutex::default() })))
    }
}

impl ServerPool {
    pub(super) fn cool_down(&self) {
        *self.cooldown_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + COOLDOWN);
    }

    pub(super) fn is_cooling_down(&self) -> bool {
        self.cooldown_until.lock().unwrap_or_else(PoisonError::into_inner).is_some_and(|until| Instant::now() < until)
    }
}
