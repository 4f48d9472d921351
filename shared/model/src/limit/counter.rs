//! Counters of rate limits, and the resulting refusals.

use std::fmt;

use crypto::digest::Digest;
use jiff::Timestamp;
use serde::Serialize;

use crate::limit::rate::Rate;
use crate::limit::rule::Rule;
use crate::limit::subject::Subject;

/// The counter of a subject in a window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    rule: Rule,
    rate: Rate,
    subject: Subject,
    /// The number of the window, counted from the Unix epoch.
    pub(crate) window: i64,
    /// The time at which the current window ends.
    pub resets_at: Timestamp,
    now: Timestamp,
}

impl Counter {
    pub(crate) fn new(rule: Rule, rate: Rate, subject: &Subject, now: Timestamp) -> Self {
        let length = i64::from(rate.window()) * 1000;
        let offset = offset(rule, subject, length);
        let window = (now.as_millisecond() + offset).div_euclid(length);
        let resets_at = Timestamp::from_millisecond((window + 1) * length - offset).unwrap_or(Timestamp::MAX);
        Self { rule, rate, subject: subject.clone(), window, resets_at, now }
    }

    /// A counter with a rate set by the project instead of the deployment.
    pub fn for_project(rule: Rule, rate: Rate, subject: &Subject, now: Timestamp) -> Self {
        Self::new(rule, rate, subject, now)
    }

    /// The number of requests that the rate permits per window.
    pub fn quota(&self) -> u32 {
        self.rate.quota
    }

    /// The time that determines the window.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The time from which the sliding window no longer covers any request of this window.
    pub fn ends_at(&self) -> Timestamp {
        Timestamp::from_millisecond(self.resets_at.as_millisecond().saturating_add_unsigned(self.length())).unwrap_or(Timestamp::MAX)
    }

    /// The key of the previous window's counter.
    pub fn before(&self) -> String {
        self.name_of(self.window - 1)
    }

    fn name_of(&self, window: i64) -> String {
        format!("{}#{}#{}x{window}", self.rule.name(), self.subject.0, self.rate.window())
    }

    /// The number of requests that this window permits now, if `before` requests were counted in
    /// the previous window.
    pub fn quota_after(&self, before: u32) -> u32 {
        self.rate.quota.saturating_sub(self.still(before))
    }

    /// The estimated number of requests in the sliding window that ends now, based on the counts of
    /// this window (`counted`) and the previous one (`before`).
    pub fn estimate(&self, before: u32, counted: u32) -> u32 {
        counted.saturating_add(self.still(before))
    }

    /// The number of requests in the previous window that still count, rounded down. Rounding up
    /// would reduce a rate of one request per window to one request in two windows.
    fn still(&self, before: u32) -> u32 {
        u32::try_from(u64::from(before) * self.overlap() / self.length()).unwrap_or(u32::MAX)
    }

    /// The length of a window in milliseconds.
    fn length(&self) -> u64 {
        u64::from(self.rate.window()) * 1000
    }

    /// How many milliseconds of the previous window the sliding window still covers; always less
    /// than a window.
    fn overlap(&self) -> u64 {
        let left = u64::try_from(self.resets_at.as_millisecond() - self.now.as_millisecond()).unwrap_or_default();
        left.clamp(1, self.length()) - 1
    }

    /// The refusal of a request when this window's quota is used up, if `before` requests were
    /// counted in the previous window.
    pub fn refusal(&self, before: u32) -> Refusal {
        self.refusal_at(before, self.quota_after(before))
    }

    /// The refusal of a request when `counted` requests have been counted in this window and
    /// `before` in the previous one.
    pub fn refusal_at(&self, before: u32, counted: u32) -> Refusal {
        let (length, overlap) = (self.length(), self.overlap());
        // The largest overlap, in milliseconds, at which fewer than `room` of the `of` requests in
        // a window still count.
        let overlap_with = |of: u32, room: u32| (length * u64::from(room)).div_ceil(u64::from(of.max(1))) - 1;
        let wait = match self.rate.quota.saturating_sub(counted) {
            0 => overlap + length - overlap_with(counted, self.rate.quota).min(length - 1),
            room => overlap - overlap_with(before, room).min(overlap),
        };
        Refusal {
            limit: self.rule.limit().name(),
            retry_after_seconds: wait.div_ceil(1000).max(1),
            quota: self.rate.quota,
            window: self.rate.window(),
        }
    }
}

/// Formats the counter's key: rule, subject, and the length and number of the window. A rule with a
/// new window length therefore gets new counters.
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name_of(self.window))
    }
}

/// How many milliseconds the windows of a subject begin before the windows counted from the Unix
/// epoch.
fn offset(rule: Rule, subject: &Subject, length: i64) -> i64 {
    let digest = Digest::of(&format!("{} {}", rule.name(), subject.0));
    let number = digest.as_str().bytes().take(10).fold(0_u64, |number, byte| number.wrapping_mul(64).wrapping_add(byte.into()));
    i64::try_from(number % length.unsigned_abs()).unwrap_or_default()
}

/// A request was refused because its subject has used up the quota.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("too many requests; try again in {retry_after_seconds} seconds")]
pub struct Refusal {
    /// The name of the limit.
    pub limit: &'static str,
    /// Seconds until the next request is permitted, at least 1.
    pub retry_after_seconds: u64,
    /// The number of requests that the limit permits per window.
    #[serde(skip)]
    pub quota: u32,
    /// The length of the window in seconds.
    #[serde(skip)]
    pub window: u32,
}
