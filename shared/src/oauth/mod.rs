//! Signing in through other providers: the catalog of providers, PKCE, and what is remembered between the two halves of a flow.

pub mod authorization;
pub mod catalog;
