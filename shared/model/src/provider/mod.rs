//! OAuth providers: the catalog, the accounts there with their profiles and tokens, and the
//! deployment's own clients.

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
