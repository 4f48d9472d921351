//! How long entries of the audit trail are kept.

use jiff::SignedDuration;

/// The default retention, in days.
pub const RETENTION_DAYS: u16 = 90;

/// The longest retention that a project may set, in days.
pub const MAX_RETENTION_DAYS: u16 = 400;

/// The permitted retentions, in days.
pub const RETENTION_RANGE: std::ops::RangeInclusive<u16> = 1..=MAX_RETENTION_DAYS;

/// The maximum retention of any entry.
pub fn max_retention() -> SignedDuration {
    SignedDuration::from_hours(i64::from(MAX_RETENTION_DAYS) * 24)
}
