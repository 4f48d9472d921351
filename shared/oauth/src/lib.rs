//! Calls to OAuth providers: discovery, exchange of codes, and ID tokens.

#![warn(missing_docs)]

mod account;
pub mod exchange;
pub mod id_token;
mod jwt;
mod keys;
#[cfg(test)]
mod keys_tests;
pub mod metadata;
pub mod tokens;
