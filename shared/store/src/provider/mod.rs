//! The state of OAuth flows and the tokens of providers.

pub mod authorization;
pub mod tokens;
pub mod used_token;
