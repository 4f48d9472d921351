//! Time in tests: waiting for events, and jumps of tokio's clock.

use std::time::{Duration, Instant};

use tokio::task::yield_now;

/// How long an event may take, on any machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until something is so.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within {PATIENCE:?}");
        yield_now().await;
    }
}

/// Moves tokio's clock forward, and lets it run on.
pub(crate) async fn jump(by: Duration) {
    tokio::time::pause();
    tokio::time::advance(by).await;
    tokio::time::resume();
}
