//! What is kept of flows with OAuth providers.

pub mod authorization;
