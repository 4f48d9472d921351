//! Signing in.

pub mod provider;
