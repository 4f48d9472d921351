//! Time in tests: waiting for events, and jumps of tokio's clock.

use std::time::{Duration, Instant};

use tokio::task::yield_now;

/// The time limit for an event, generous enough for any machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Waits until a condition is true.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within {TIMEOUT:?}");
        yield_now().await;
    }
}

/// Advances tokio's clock, then lets it continue.
pub(crate) async fn jump(by: Duration) {
    tokio::time::pause();
    tokio::time::advance(by).await;
    tokio::time::resume();
}
