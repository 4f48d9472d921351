//! Modules shared by the operations on users.

pub(crate) mod change;
pub(crate) mod list_flags;
