//! Steps shared by several ways to sign in, or by several changes to how a user signs in.

pub(crate) mod authenticators;
pub(crate) mod new_account;
pub(crate) mod notice;
pub(crate) mod old_password;
pub(crate) mod otp;
pub(crate) mod remembered;
pub(crate) mod required_teams;
pub(crate) mod second_factor;
pub(crate) mod second_factor_code;
pub(crate) mod tokens;
pub(crate) mod wrong_password;
