//! What an operation answers when it fails: errors that a client may rely on, and those that the log alone shall have.

pub mod answer;

pub mod catalog;
pub mod failure;
pub mod key_slip;
pub mod known;

pub use crate::answer::{Answered, AnsweredCode};
pub use crate::catalog::Entry;
pub use crate::failure::Error;
pub use crate::key_slip::KeySlip;
pub use crate::known::{CODE_ERRORS, ErrorCode, KnownError};
