//! Modules shared by the operations on API keys of users and teams.

pub(crate) mod change;
pub(crate) mod check;
mod exposure;
pub(crate) mod input;
pub(crate) mod manage;
