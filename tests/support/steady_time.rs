//! Time limits in tests of outgoing calls: they must end what waits, and nothing else, however busy
//! the machine is.

use std::cell::RefCell;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::Instant;

/// How far tokio's clock moves at a time, and how long that takes at least.
const STEP: Duration = Duration::from_millis(10);

/// While one of these lives, tokio's time in a test passes in steps of 10 ms, and every task of the
/// test has its turn in each of them. If the machine is busy, the steps take longer. So a limit of
/// two seconds ends a call after two hundred turns without an answer, and none whose answer only
/// came late because the test did not run. Has no effect in tests with several threads, where
/// tokio's clock cannot be stopped, and in those that have stopped it themselves.
pub struct SteadyTime(#[expect(dead_code, reason = "it ends when it is dropped")] Option<Arc<Steps>>);

struct Steps(JoinHandle<()>);

thread_local! {
    /// The steps of the test on this thread.
    static STEPS: RefCell<Weak<Steps>> = const { RefCell::new(Weak::new()) };
}

impl SteadyTime {
    pub fn start() -> Self {
        if Handle::current().runtime_flavor() != RuntimeFlavor::CurrentThread {
            return Self(None);
        }
        STEPS.with_borrow_mut(|running| {
            let steps = running.upgrade().or_else(|| {
                (!is_paused()).then(|| {
                    tokio::time::pause();
                    Arc::new(Steps(tokio::spawn(pass())))
                })
            });
            *running = steps.as_ref().map(Arc::downgrade).unwrap_or_default();
            Self(steps)
        })
    }
}

/// Whether the test has stopped tokio's clock itself.
fn is_paused() -> bool {
    let now = Instant::now();
    std::thread::sleep(Duration::from_millis(1));
    Instant::now() == now
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.0.abort();
        // A test may leave servers to the runtime, which drops them at its end.
        if Handle::try_current().is_ok() {
            tokio::time::resume();
        }
    }
}

async fn pass() {
    loop {
        // While blocking work is done, tokio does not move its clock by itself.
        let _ = spawn_blocking(|| std::thread::sleep(STEP)).await;
        tokio::time::advance(STEP).await;
    }
}
