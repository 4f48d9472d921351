//! The errors of operations, for clients and for the log.

#![warn(missing_docs)]

pub mod answer;
pub mod failure;
pub mod groups;
pub mod key_slip;
pub mod known;
pub mod path_slip;

pub use crate::answer::{AnsweredCode, AttachedError};
pub use crate::failure::Error;
pub use crate::groups::{
    CODE_ERRORS, NEW_PASSWORD_ERRORS, SIGN_IN_CHANGE_ERRORS, TEAM_MEMBER_ERRORS, USER_FIELD_ERRORS, USER_REFERENCE_ERRORS,
};
pub use crate::key_slip::KeySlip;
pub use crate::known::{ErrorCode, KnownError, Sdks};
pub use crate::path_slip::PathSlip;
