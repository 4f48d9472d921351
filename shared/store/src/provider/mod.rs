//! The state of OAuth flows, and the accounts and tokens of providers.

pub mod account;
pub mod authorization;
pub mod tokens;
pub mod used_token;
