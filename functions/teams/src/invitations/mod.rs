//! What operations on invitations do alike.

pub(crate) mod accepting;
pub(crate) mod input;
