//! Modules shared by the operations on contact channels.

pub(crate) mod change;
pub(crate) mod release_page;
pub(crate) mod sending;
