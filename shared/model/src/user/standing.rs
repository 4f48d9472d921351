//! Whether and why a user may sign in with an unverified address.

use serde::{Deserialize, Serialize};

/// Whether and why a user may sign in with an unverified address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The address of the sign-up, an address that replaced it to correct a typo, the address whose
    /// proof gave the account a new owner, or any address stored by an earlier version that did not
    /// record the standing. If such an address is used for signing in, it is claimed. While such an
    /// address is unverified and not primary, another account that verifies the address takes over
    /// the claim.
    #[default]
    Provisional,
    /// An address that the user added, enabled for signing in, or set in place of another. Such an
    /// address is not claimed until it is verified.
    Wished,
    /// An address that a server or an administrator added, verified, enabled for signing in, or set
    /// in place of another. If such an address is used for signing in, it is claimed even while it
    /// is unverified.
    Assigned,
}

impl Standing {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_provisional(&self) -> bool {
        *self == Self::Provisional
    }
}
