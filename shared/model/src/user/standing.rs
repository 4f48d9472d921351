//! Why an address may sign in although nobody has verified it.

use serde::{Deserialize, Serialize};

/// Why an address may sign in although nobody has verified it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// The address that the account was made with, and any address of an item of an older version. It is claimed, but gives way to
    /// whoever verifies it, unless it is primary.
    #[default]
    Provisional,
    /// Its user asked for it: it claims nothing until it is verified.
    Wished,
    /// A server said so.
    Assigned,
}

impl Standing {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_provisional(&self) -> bool {
        *self == Self::Provisional
    }
}
