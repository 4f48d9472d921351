//! Where the bodies of an email are that has ended.

use serde::{Deserialize, Serialize};
use wire::clock::Millis;

/// Where the bodies of a mail are that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// When they are erased.
    pub until: Millis,
    /// About how many they are, before they are compressed.
    pub bytes: usize,
}
