//! The table fails. Transient failures are retried, other failures are reported, and no change is
//! made only in part.

mod operations;
mod retries;
