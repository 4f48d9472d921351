//! Limits: how much one may do in a span of time.
//!
//! An operation says in its route which [`Limit`] it is under; a [`Rule`] says who is counted, and a [`Rate`] of the deployment how much
//! is let through. There is one counter for each subject and window, which one conditional update counts, however many processes do so.
//! Beside it the counter of the window before still counts for the part of it that is less than a window ago, as if what it counted had
//! come evenly. So a burst is no larger than the quota wherever a window ends, and what comes after it is let through evenly: in a span of
//! `s` seconds at most `quota * (1 + s / window)`, rounded up. Each subject's windows begin at another moment, which spreads what comes
//! back after a refusal.

pub mod counter;
pub mod family;
pub mod limits;
pub mod of_operation;
pub mod rate;
pub mod rule;
pub mod subject;
#[cfg(test)]
mod tests;

pub use counter::{Counter, Refused};
pub use family::Limit;
pub use limits::Limits;
pub use of_operation::By;
pub use rate::{InvalidRate, Rate};
pub use rule::Rule;
pub use subject::Subject;
