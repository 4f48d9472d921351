//! Permission definitions and grants.

pub(crate) mod definitions;
pub(crate) mod grants;
