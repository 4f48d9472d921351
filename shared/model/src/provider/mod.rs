//! OAuth providers: the catalog, the state of a flow, the profiles and tokens of provider accounts,
//! and the deployment's own clients.

pub mod authorization;
pub mod catalog;
pub mod profile;
#[cfg(test)]
mod profile_tests;
pub mod registration;
pub mod shared;
pub mod tokens;
#[cfg(test)]
mod tokens_tests;
