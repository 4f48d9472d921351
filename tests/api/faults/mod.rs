//! The table fails. Transient failures are retried, others are reported, and no change is made in
//! part.

mod operations;
mod retries;
