//! Providers of OAuth: which there are, what a flow remembers, what a provider tells of its user.

pub mod authorization;
pub mod catalog;
pub mod profile;
#[cfg(test)]
mod profile_tests;
