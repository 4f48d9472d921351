//! OAuth providers: the catalog, the state of a flow, and the profiles of their accounts.

pub mod authorization;
pub mod catalog;
pub mod profile;
#[cfg(test)]
mod profile_tests;
pub mod shared;
