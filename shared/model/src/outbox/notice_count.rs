//! How a notice is counted before it is rendered.

use serde::{Deserialize, Serialize};

/// How a notice is counted before it is rendered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoticeCount {
    /// Whether the recipient had already proved the address when the notice was written.
    pub is_proved: bool,
    /// Whether the address was verified, no matter by whom.
    #[serde(default)]
    pub is_verified: bool,
    /// The network of the client that caused the notice, as counted by limits; absent if a server
    /// or the service caused the notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub network: Option<String>,
}
