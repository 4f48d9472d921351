//! What operations on members do alike.

pub(crate) mod images;
pub(crate) mod listing;
pub(crate) mod named;
pub(crate) mod paths;
pub(crate) mod profiles;
