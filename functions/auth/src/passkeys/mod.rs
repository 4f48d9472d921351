//! What the operations that use passkeys share: starting a ceremony, checking its response, and
//! changing a user's passkeys.

pub(crate) mod change;
pub(crate) mod proof;
pub(crate) mod start;
