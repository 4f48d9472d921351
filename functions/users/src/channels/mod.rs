//! What operations on contact channels do alike.

pub(crate) mod change;
pub(crate) mod release_page;
pub(crate) mod sending;
