//! What an operation answers when it fails: errors that a client may rely on, and those that the log alone shall have.

mod catalog;
mod failure;
mod key_slip;
mod known;

pub use catalog::Entry;
pub use failure::Error;
pub use key_slip::KeySlip;
pub use known::{Answered, ErrorCode, KnownError};
