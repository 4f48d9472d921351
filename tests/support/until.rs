//! Waits for events, and interrupts work at a chosen point.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

/// The maximum time to wait for an event, even on a slow machine.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Waits for a condition while the tasks of the runtime continue. Tokio's clock may be paused
/// during the wait.
pub async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + TIMEOUT;
    while !is_so() {
        assert!(Instant::now() < end, "{what}: not within {TIMEOUT:?}");
        tokio::task::yield_now().await;
    }
}

/// Does `work` until `is_there` is true, then all of `other`, and then the rest of `work`. Returns
/// both results. If `work` ends first, `other` is skipped.
pub async fn interrupted<A, B>(
    work: impl Future<Output = A>,
    mut is_there: impl FnMut() -> bool,
    other: impl Future<Output = B>,
) -> (A, Option<B>) {
    let mut work = pin!(work);
    let ended = poll_fn(|context| {
        if is_there() {
            return Poll::Ready(None);
        }
        match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if is_there() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    });
    match ended.await {
        Some(done) => (done, None),
        None => {
            let other = other.await;
            (work.await, Some(other))
        }
    }
}
