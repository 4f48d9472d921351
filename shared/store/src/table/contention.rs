//! Optimistic changes, which are written on the condition that the items they are based on have not
//! changed.

use std::time::Duration;

use crate::table::error::Error;
use crate::table::label::Conflict;

/// The maximum number of attempts at a change while other requests change the same items. If there
/// are more conflicts, an attack is likely.
pub const MAX_ATTEMPTS: u32 = 5;

/// Waits before every attempt except the first: 5 ms, doubled each time up to 80 ms, so that the
/// conflicting write has time to finish.
pub async fn back_off(attempt: u32) {
    if attempt > 0 {
        // Boxed, so that the future of every change does not contain a timer.
        Box::pin(tokio::time::sleep(Duration::from_millis(5 << (attempt - 1).min(4)))).await;
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

    /// The error if every attempt conflicted with another write.
    fn lost() -> Self {
        Error::Contended.into()
    }
}

impl Contention for Error {
    fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict(_))
    }
}

/// Reads, decides and writes: `optimistic!(|attempt| { … })` runs the block, which returns a
/// `Result`. While the block fails with a conflict, it is repeated after a [`back_off`], for at
/// most [`MAX_ATTEMPTS`] attempts in total, unless another number precedes the block. If every
/// attempt conflicts, the result is [`Contention::lost`]. `return` in the block ends the attempt,
/// not the function.
///
/// `attempt` counts from 0. A macro is used because the compiler cannot prove that an async closure
/// is `Send` for every lifetime of its borrows.
#[macro_export(local_inner_macros)]
macro_rules! optimistic {
    (|$attempt:pat_param| $change:block) => {
        optimistic!($crate::table::contention::MAX_ATTEMPTS, |$attempt| $change)
    };
    ($max_attempts:expr, |$attempt:pat_param| $change:block) => {{
        let mut result = Err($crate::table::contention::Contention::lost());
        for attempt in 0..$max_attempts {
            $crate::table::contention::back_off(attempt).await;
            let $attempt = attempt;
            let made = async { $change }.await;
            if !made.as_ref().is_err_and($crate::table::contention::Contention::is_conflict) {
                result = made;
                break;
            }
        }
        result
    }};
}
