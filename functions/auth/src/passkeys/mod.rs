//! Code shared by the passkey operations, which start a ceremony, check its response, and change a
//! user's passkeys.

pub(crate) mod change;
pub(crate) mod proof;
pub(crate) mod start;
