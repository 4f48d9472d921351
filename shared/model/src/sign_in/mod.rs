//! Signing in.

pub mod authorization;
pub mod provider;
pub mod second_factor;
pub mod user_code;
