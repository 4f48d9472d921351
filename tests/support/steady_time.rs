//! Time limits in tests of outgoing calls. A limit must end waiting calls and no other calls, no
//! matter how busy the machine is.

use std::cell::RefCell;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::Instant;

/// A step of tokio's clock, and the minimum real duration of the step.
const STEP: Duration = Duration::from_millis(10);

/// While this value exists, tokio's time passes in steps of 10 ms. Every task of the test gets a
/// turn in each step. On a busy machine, steps take longer. A limit of two seconds therefore ends a
/// call after two hundred turns without a response. The limit does not end a call that is late only
/// because the test was not running. The value has no effect in tests with several threads, where
/// tokio's clock cannot be stopped, or in tests that stop the clock.
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

/// Whether the test has stopped tokio's clock.
fn is_paused() -> bool {
    let now = Instant::now();
    std::thread::sleep(Duration::from_millis(1));
    Instant::now() == now
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.0.abort();
        // A test may leave its servers to the runtime, which drops them when it ends.
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
