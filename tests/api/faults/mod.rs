//! The table fails. Transient failures are retried, others are reported, and no change is made
//! halfway.

mod operations;
mod retries;
