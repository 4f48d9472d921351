//! Shared by the operations on passkeys.

pub(crate) mod change;
pub(crate) mod proof;
pub(crate) mod start;
