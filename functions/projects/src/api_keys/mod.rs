//! Modules shared by the operations on API keys.

pub(crate) mod input;
