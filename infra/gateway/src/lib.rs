//! The gateway.

pub mod content;
