//! Counters, and what a refused request is told.

use std::fmt;

use crypto::digest::Digest;
use jiff::Timestamp;
use serde::Serialize;

use crate::limit::rate::Rate;
use crate::limit::rule::Rule;
use crate::limit::subject::Subject;

/// A counter of one subject in one window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    rule: Rule,
    rate: Rate,
    subject: Subject,
    /// Number of the window, counted from the epoch.
    pub(crate) window: i64,
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

    /// The counter of a project at a rate of its own.
    pub fn of_project(rule: Rule, rate: Rate, subject: &Subject, now: Timestamp) -> Self {
        Self::new(rule, rate, subject, now)
    }

    pub fn quota(&self) -> u32 {
        self.rate.quota
    }

    /// When it was asked for.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The name of the counter of the window before.
    pub fn before(&self) -> String {
        self.name_of(self.window - 1)
    }

    fn name_of(&self, window: i64) -> String {
        format!("{}#{}#{}x{window}", self.rule.name(), self.subject.0, self.rate.window())
    }

    /// How many this window may count by now when the one before it has counted `before`.
    pub fn quota_after(&self, before: u32) -> u32 {
        self.rate.quota.saturating_sub(self.still(before))
    }

    /// How many came in the length of a window before now, when this one has counted `counted` and the one before it `before`.
    pub fn estimate(&self, before: u32, counted: u32) -> u32 {
        counted.saturating_add(self.still(before))
    }

    /// How many of the window before still count. Rounded down: otherwise one in a window would become one in two of them.
    fn still(&self, before: u32) -> u32 {
        u32::try_from(u64::from(before) * self.overlap() / self.length()).unwrap_or(u32::MAX)
    }

    /// Milliseconds.
    fn length(&self) -> u64 {
        u64::from(self.rate.window()) * 1000
    }

    /// The part of the window before that is less than a window ago, in milliseconds: never all of it.
    fn overlap(&self) -> u64 {
        let left = u64::try_from(self.resets_at.as_millisecond() - self.now.as_millisecond()).unwrap_or_default();
        left.clamp(1, self.length()) - 1
    }

    /// What the subject is told when this window has counted all that it may after `before`.
    pub fn refusal(&self, before: u32) -> Refused {
        self.refusal_at(before, self.quota_after(before))
    }

    /// What the subject is told when this window has counted `counted`, and the one before it `before`.
    pub fn refusal_at(&self, before: u32, counted: u32) -> Refused {
        let (length, overlap) = (self.length(), self.overlap());
        // The largest overlap with a window that counted so many which leaves room for so many.
        let overlap_with = |of: u32, room: u32| (length * u64::from(room)).div_ceil(u64::from(of.max(1))) - 1;
        let wait = match self.rate.quota.saturating_sub(counted) {
            0 => overlap + length - overlap_with(counted, self.rate.quota).min(length - 1),
            room => overlap - overlap_with(before, room).min(overlap),
        };
        Refused {
            limit: self.rule.limit().name(),
            retry_after_seconds: wait.div_ceil(1000).max(1),
            quota: self.rate.quota,
            window: self.rate.window(),
        }
    }
}

/// Names the counter: rule, subject and window. Another length of windows makes other counters.
impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name_of(self.window))
    }
}

/// By how much a subject's windows begin earlier than the epoch's, in milliseconds.
fn offset(rule: Rule, subject: &Subject, length: i64) -> i64 {
    let digest = Digest::of(&format!("{} {}", rule.name(), subject.0));
    let number = digest.as_str().bytes().take(10).fold(0_u64, |number, byte| number.wrapping_mul(64).wrapping_add(byte.into()));
    i64::try_from(number % length.unsigned_abs()).unwrap_or_default()
}

/// A subject has nothing left for a while.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("that is too often; try again in {retry_after_seconds} seconds")]
pub struct Refused {
    /// The name of the limit.
    pub limit: &'static str,
    /// Seconds until one more is let through, at least 1.
    pub retry_after_seconds: u64,
    #[serde(skip)]
    pub quota: u32,
    /// Seconds.
    #[serde(skip)]
    pub window: u32,
}
