//! How long entries of the trail are kept.

use jiff::SignedDuration;

/// How long entries are kept where a project does not say, in days.
pub const RETENTION_DAYS: u16 = 90;

/// The longest that a project may keep them, in days.
pub const MAX_RETENTION_DAYS: u16 = 400;

/// How many days a project may keep them.
pub const RETENTION_RANGE: std::ops::RangeInclusive<u16> = 1..=MAX_RETENTION_DAYS;

/// The longest time that an entry is kept.
pub fn longest_retention() -> SignedDuration {
    SignedDuration::from_hours(i64::from(MAX_RETENTION_DAYS) * 24)
}
