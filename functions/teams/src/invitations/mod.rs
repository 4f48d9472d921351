//! Modules shared by the operations on invitations.

pub(crate) mod accepting;
pub(crate) mod input;
