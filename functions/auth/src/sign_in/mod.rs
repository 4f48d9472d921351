//! What ways of signing in do alike.

pub(crate) mod new_account;
pub(crate) mod notice;
pub(crate) mod old_password;
pub(crate) mod otp;
pub(crate) mod second_factor;
pub(crate) mod tokens;
pub(crate) mod wrong_password;
