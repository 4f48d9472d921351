//! Definitions of permissions, and what their paths name.

pub(crate) mod definitions;
pub(crate) mod paths;
