//! Time, as an argument: the only place that asks the machine for it.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

/// Where an [`App`](flows::App) reads the time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The machine's clock.
    pub fn system() -> Self {
        #[expect(clippy::disallowed_methods, reason = "this is the one place that may ask")]
        Self(Arc::new(Timestamp::now))
    }

    /// A clock of a test.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

/// A time later, or the last there is.
pub fn after(time: Timestamp, duration: SignedDuration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}

/// A time in milliseconds since the epoch, as the wire has it.
pub type Millis = i64;
