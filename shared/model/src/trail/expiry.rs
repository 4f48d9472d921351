//! When entries of the trail expire.

use jiff::{SignedDuration, Timestamp};

use crate::project::ProjectConfig;
use crate::trail::Entry;

/// How long a project keeps entries, in days.
pub fn retention_days(config: &ProjectConfig) -> u16 {
    config.audit_log_retention_days
}

impl Entry {
    /// When the entry expires.
    pub fn expires_at(&self, retention_days: u16) -> Timestamp {
        wire::clock::after(self.at, SignedDuration::from_hours(i64::from(retention_days) * 24))
    }
}
