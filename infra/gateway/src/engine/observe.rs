//! Observers of the engine's calls, for tests.

use std::time::Duration;

/// Observes the operation and body of every call, for example to record calls or inject errors.
pub trait Observe: Send + Sync {
    fn before(&self, _operation: &str, _body: &[u8]) -> Option<InjectedError> {
        None
    }

    /// The time that each call takes on tokio's clock, if `Some`. The response also contains the
    /// consumed capacity, which [`Self::after`] can read.
    fn pace(&self) -> Option<Duration> {
        None
    }

    /// Called with the engine's response if the call succeeded and no error was injected.
    fn after(&self, _operation: &str, _body: &[u8], _answer: &str) {}
}

/// How a call fails.
#[derive(Debug, Clone)]
pub enum InjectedError {
    /// The call is rejected with the given status and body without being executed.
    Refused { status: u16, body: String },
    /// The connection breaks before the call arrives.
    NotMade,
    /// The call is executed, but its response is lost.
    AnswerLost,
}
