//! Time as an argument: only this module reads the system clock.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

/// The source of an `App`'s time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system clock.
    pub fn system() -> Self {
        #[expect(clippy::disallowed_methods, reason = "the only place that reads the system clock")]
        Self(Arc::new(Timestamp::now))
    }

    /// A clock that calls `now`, for tests and programs that set or move the time.
    pub fn new(now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The current time.
    pub fn now(&self) -> Timestamp {
        (self.0)()
    }
}

/// The sum of `time` and `duration`, limited to the latest representable time.
pub fn after(time: Timestamp, duration: SignedDuration) -> Timestamp {
    time.checked_add(duration).unwrap_or(Timestamp::MAX)
}

/// Milliseconds since the Unix epoch, the usual form of times on the wire.
pub type Millis = i64;
