//! Optimistic changes: written on the condition that the items they are based on have not changed.

use std::time::Duration;

use crate::table::error::Error;
use crate::table::label::Conflict;

/// Waits before every round except the first: 5 ms, doubled each time up to 80 ms, so that the
/// conflicting write can finish.
pub async fn pause(round: u32) {
    if round > 0 {
        // Boxed; otherwise every change's future would contain a timer.
        Box::pin(tokio::time::sleep(Duration::from_millis(5 << (round - 1).min(4)))).await;
    }
}

/// An error that can report a conflict with another write.
pub trait Contention: From<Error> {
    /// Whether the conditions of a write failed.
    fn is_conflict(&self) -> bool;

    /// The error for a conflict with another write.
    fn conflict() -> Self {
        Error::Conflict(Conflict::default()).into()
    }

    /// The error if every round conflicted with another write.
    fn lost() -> Self {
        Error::Contended.into()
    }
}

impl Contention for Error {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }
}

/// Reads, decides and writes: `optimistic!(5, |round| { … })` runs the block, which returns a
/// `Result`, and repeats it after a [`pause`] while it fails with a conflict, at most five times in
/// all. If every round conflicts, the result is [`Contention::lost`].
///
/// `round` counts from 0. This is a macro, because the compiler cannot prove that an async closure
/// is `Send` for every lifetime of its borrows.
#[macro_export]
macro_rules! optimistic {
    ($rounds:expr, |$round:pat_param| $change:block) => {{
        let mut result = Err($crate::table::contention::Contention::lost());
        for round in 0..$rounds {
            $crate::table::contention::pause(round).await;
            let $round = round;
            let made = async { $change }.await;
            if !made.as_ref().is_err_and($crate::table::contention::Contention::is_conflict) {
                result = made;
                break;
            }
        }
        result
    }};
}
