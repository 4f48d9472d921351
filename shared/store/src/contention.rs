//! Optimistic changes, which are written on the condition that the items on which they are based
//! have not changed.

use crate::error::Error;
use crate::label::Conflict;

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

/// Reads, decides and writes: `optimistic!(5, |round| { … })` runs the block, which evaluates to a
/// `Result`, and runs it again while it fails with a conflict, at most five times in all. If every
/// round conflicts, the result is [`Contention::lost`].
///
/// `round` counts from 0. This is a macro because the compiler cannot prove that an async closure
/// is `Send` for every lifetime of what it borrows.
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
