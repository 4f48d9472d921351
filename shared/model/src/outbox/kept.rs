//! The record, in an outbox entry, of the separate item with the bodies of an ended email.

use serde::{Deserialize, Serialize};
use wire::clock::Millis;

/// The expiry and size of bodies that are stored in a separate item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// When the bodies are erased, in milliseconds since the Unix epoch.
    pub until: Millis,
    /// The approximate size of the bodies before compression, in bytes.
    pub bytes: usize,
}
