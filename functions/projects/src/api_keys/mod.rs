//! What operations on API keys do alike.

pub(crate) mod input;
