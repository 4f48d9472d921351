//! Configurations and their levels.

pub(crate) mod overrides;
pub(crate) mod text;
