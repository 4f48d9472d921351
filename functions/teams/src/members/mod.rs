//! Modules shared by the operations on members.

pub(crate) mod images;
pub(crate) mod named;
pub(crate) mod paths;
pub(crate) mod profiles;
