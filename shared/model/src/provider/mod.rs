//! OAuth providers: the catalog, the provider accounts with their profiles and tokens, and the
//! deployment's clients.

pub mod account;
pub mod catalog;
pub mod profile;
#[cfg(test)]
mod profile_tests;
pub mod registration;
pub mod shared;
pub mod tokens;
#[cfg(test)]
mod tokens_tests;
