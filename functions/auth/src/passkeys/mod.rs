//! Modules shared by the passkey operations: starting a ceremony, checking its response, and
//! changing a user's passkeys.

pub(crate) mod change;
pub(crate) mod proof;
pub(crate) mod start;
