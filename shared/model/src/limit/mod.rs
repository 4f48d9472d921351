//! Rate limits: how many requests are permitted in a period of time.
//!
//! The route of an operation declares its [`Limit`]. A [`Rule`] defines which requests are counted,
//! and its [`Rate`] how many are permitted. Each [`Subject`] of a rule has one counter per window.
//! A single conditional update increments the counter, so concurrent processes cannot exceed the
//! quota. Each process counts some requests only in its own memory: requests without a known
//! project, reports of exposed API keys, reads by clients, and uses of a refresh token. The count
//! of the previous window is prorated: requests less than one window length ago still count, on the
//! assumption that they were spread evenly over their window. A burst at the edge of a window
//! therefore cannot exceed the quota. After a burst, requests are permitted at even intervals: at
//! most `quota * (1 + s / window)`, rounded up, in any `s` seconds. The windows of different
//! subjects start at different times, which spreads the retries after refusals.

pub mod counter;
pub mod family;
pub mod limits;
pub mod of_operation;
pub mod rate;
pub mod rule;
pub mod subject;
#[cfg(test)]
mod tests;

pub use counter::{Counter, Refusal};
pub use family::Limit;
pub use limits::Limits;
pub use of_operation::SubjectKind;
pub use rate::{Rate, RateError};
pub use rule::Rule;
pub use subject::Subject;

/// The number of bytes read from the table by a client that count as one read ([`Limit::Read`]);
/// smaller reads do not count.
pub const BYTES_PER_READ: usize = 16 * 1024;
