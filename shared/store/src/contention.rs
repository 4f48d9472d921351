//! Changes that are decided on what was read, and written on the condition that it is still so.

use crate::error::Error;
use crate::label::Conflict;

/// An error that may say that somebody else was faster.
pub trait Contention: From<Error> {
    /// Whether the conditions of a write did not hold.
    fn is_conflict(&self) -> bool;

    /// Says that somebody else was faster.
    fn conflict() -> Self {
        Error::Conflict(Conflict::default()).into()
    }

    /// What is answered when somebody else was faster each time.
    fn lost() -> Self {
        Error::Contended.into()
    }
}

impl Contention for Error {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }
}

/// Reads, decides and writes: `optimistic!(5, |round| { … })` runs the block, which ends in a `Result`, again for as long as it fails by
/// a conflict, five times at most; `round` counts from 0. A macro, as the compiler cannot prove of an async closure that it is `Send`
/// for every lifetime of what it borrows.
#[macro_export]
macro_rules! optimistic {
    ($rounds:expr, |$round:pat_param| $change:block) => {{
        let mut result = Err($crate::contention::Contention::lost());
        for $round in 0..$rounds {
            let made = async { $change }.await;
            if !made.as_ref().is_err_and($crate::contention::Contention::is_conflict) {
                result = made;
                break;
            }
        }
        result
    }};
}
