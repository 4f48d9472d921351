//! Observers of calls, which tests have.

use std::time::Duration;

/// What is seen of every call: the operation and its body. Tests record with it, or let something go wrong.
pub trait Observe: Send + Sync {
    fn before(&self, _operation: &str, _body: &[u8]) -> Option<Fault> {
        None
    }

    /// `Some` makes each call take this time, on tokio's clock, and ask what it consumes: [`Self::after`] reads it from the answer.
    fn pace(&self) -> Option<Duration> {
        None
    }

    /// What the engine answered.
    fn after(&self, _operation: &str, _body: &[u8], _answer: &str) {}
}

/// What goes wrong with a call.
#[derive(Debug, Clone)]
pub enum Fault {
    /// It is refused with this status and body, and not made.
    Refused { status: u16, body: String },
    /// The connection breaks before the call arrives.
    NotMade,
    /// The call is made, and its answer is lost.
    AnswerLost,
}
