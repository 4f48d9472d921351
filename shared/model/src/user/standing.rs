//! Whether and why a user may sign in with an unverified address.

use serde::{Deserialize, Serialize};

/// Whether and why a user may sign in with an unverified address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The sign-up address, an address that replaced it to correct a typo, or the address whose
    /// proof gave the account a new owner. Addresses stored by an earlier version that did not
    /// record the standing are provisional too. If a provisional address is used for signing in, it
    /// is claimed. While it is unverified and not primary, another account that verifies the
    /// address takes over the claim.
    #[default]
    Provisional,
    /// An address that the user added, enabled for signing in, or used to replace another address.
    /// A wished address is not claimed until it is verified.
    Wished,
    /// An address that a server or an administrator added, verified, enabled for signing in, or
    /// used to replace another address. If an assigned address is used for signing in, it is
    /// claimed even while it is unverified.
    Assigned,
}

impl Standing {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_provisional(&self) -> bool {
        *self == Self::Provisional
    }
}
