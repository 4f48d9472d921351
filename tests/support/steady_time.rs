//! Time limits in tests of outgoing calls. A limit must end calls that are waiting, but no other
//! calls, however busy the machine is.

use std::cell::RefCell;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::Instant;

/// A step of tokio's clock, and its minimum real duration.
const STEP: Duration = Duration::from_millis(10);

/// While this value exists, tokio's time passes in steps of 10 ms, and every task of the test gets
/// a turn in each step. On a busy machine, steps take longer. So a limit of two seconds ends a call
/// after two hundred turns without a response. It does not end a call that is late only because the
/// test was not running. This has no effect in tests with several threads, where tokio's clock
/// cannot be stopped, and in tests that stop the clock themselves.
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

/// Whether the test itself has stopped tokio's clock.
fn is_paused() -> bool {
    let now = Instant::now();
    std::thread::sleep(Duration::from_millis(1));
    Instant::now() == now
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.0.abort();
        // A test may leave its servers to the runtime, which drops them when the runtime ends.
        if Handle::try_current().is_ok() {
            tokio::time::resume();
        }
    }
}

async fn pass() {
    loop {
        // Tokio does not advance its clock during blocking work.
        let _ = spawn_blocking(|| std::thread::sleep(STEP)).await;
        tokio::time::advance(STEP).await;
    }
}
