//! How long sessions of a project's users last.

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

/// The lifetime of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionSettings {
    /// The maximum time since the start of a session, in seconds.
    pub max_age_seconds: u32,
    /// The maximum time since the last use of a session, in seconds.
    pub max_idle_seconds: u32,
}

impl Default for SessionSettings {
    /// 365 days in total, and 30 days without use.
    fn default() -> Self {
        Self { max_age_seconds: 365 * 86_400, max_idle_seconds: 30 * 86_400 }
    }
}

impl SessionSettings {
    /// The maximum time since the start of a session.
    pub fn life(self) -> SignedDuration {
        SignedDuration::from_secs(i64::from(self.max_age_seconds))
    }

    /// The maximum time since the last use of a session.
    pub fn idle(self) -> SignedDuration {
        SignedDuration::from_secs(i64::from(self.max_idle_seconds))
    }
}
