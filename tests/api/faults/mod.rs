//! The table fails. Transient failures are retried, other failures are reported, and no change is
//! left half made.

mod operations;
mod retries;
