//! Delivery statistics of a project: how many emails had which outcome in a period, and the sending
//! rate that results.
//!
//! Outcomes are counted per minute, so the last hour is the last 60 minutes instead of the current
//! clock hour. The current minute is included.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::outbox::{OutboxEntry, Stage};

/// The outcome of an email.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Accepted by the mail service.
    Sent,
    /// Permanently refused by the recipient's mail server or by the mail service.
    Bounced,
    /// Reported as spam by the recipient.
    MarkedAsSpam,
}

impl OutboxEntry {
    /// The outcomes that are new in this entry compared with `before`; each outcome counts once per
    /// email.
    pub fn fates_since(&self, before: &Self) -> impl Iterator<Item = Fate> {
        let told = |entry: &Self| match entry.stage {
            Stage::Sent { reports, .. } => [true, reports.bounced_at.is_some(), reports.marked_as_spam_at.is_some()],
            _ => [false; 3],
        };
        let (now, earlier) = (told(self), told(before));
        let fates = [Fate::Sent, Fate::Bounced, Fate::MarkedAsSpam].into_iter().enumerate();
        fates.filter(move |(index, _)| now[*index] && !earlier[*index]).map(|(_, fate)| fate)
    }
}

/// How many emails had each outcome in a period.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeliveryCounts {
    /// Emails that the mail service accepted.
    pub sent: u64,
    /// Emails that bounced.
    pub bounced: u64,
    /// Emails reported as spam.
    pub marked_as_spam: u64,
}

impl DeliveryCounts {
    /// Adds `count` emails with this outcome.
    pub fn add(&mut self, fate: Fate, count: u64) {
        match fate {
            Fate::Sent => self.sent += count,
            Fate::Bounced => self.bounced += count,
            Fate::MarkedAsSpam => self.marked_as_spam += count,
        }
    }

    /// The factor for the sending rate: 1 without bounces and complaints, lower with them, but at
    /// least 0.1. One complaint counts as much as 50 bounces.
    #[expect(clippy::cast_precision_loss, reason = "no project has sent 2^52 emails")]
    fn penalty(&self) -> f64 {
        let failed = self.bounced + 50 * self.marked_as_spam;
        if failed == 0 { 1.0 } else { (1.0 - failed as f64 / self.sent.max(1) as f64).clamp(0.1, 1.0) }
    }
}

impl AddAssign for DeliveryCounts {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.bounced += other.bounced;
        self.marked_as_spam += other.marked_as_spam;
    }
}

/// The counts for the last hour, day, week and 30 days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeliveryStats {
    /// The last 60 minutes.
    pub hour: DeliveryCounts,
    /// The last 24 hours.
    pub day: DeliveryCounts,
    /// The last 7 days.
    pub week: DeliveryCounts,
    /// The last 30 days.
    pub month: DeliveryCounts,
}

const HOUR: i64 = 60;
const DAY: i64 = 24 * HOUR;
/// The longest period, in minutes.
pub const MONTH: i64 = 30 * DAY;

/// The minute of a time, counted from the Unix epoch.
pub fn minute(time: Timestamp) -> i64 {
    time.as_second().div_euclid(60)
}

impl DeliveryStats {
    /// Sums up the counts of the minutes in each period.
    pub fn of(counts: &BTreeMap<i64, DeliveryCounts>, now: Timestamp) -> Self {
        let now = minute(now);
        let within = |minutes: i64| {
            let mut sum = DeliveryCounts::default();
            counts.range(now - minutes + 1..=now).for_each(|(_, counts)| sum += *counts);
            sum
        };
        Self { hour: within(HOUR), day: within(DAY), week: within(7 * DAY), month: within(MONTH) }
    }
}

/// How fast a project may send.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct DeliveryCapacity {
    /// Emails per second.
    pub rate_per_second: f64,
    /// Whether the rate is enforced; `false` in a deployment without a quota.
    pub is_limited: bool,
    /// The base of each project's sending rate ([`DeliveryCapacity::of`]), in emails per hour,
    /// unless the deployment sets another base.
    pub boost_multiplier: f64,
    /// The factor by which bounces and complaints reduce the rate: from 0.1 to 1 (no reduction).
    pub penalty_factor: f64,
    /// Whether a boost is active.
    pub is_boost_active: bool,
    /// When the active boost ends; `null` if no boost is active.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub boost_expires_at: Option<Timestamp>,
}

/// The base of every project's sending rate ([`DeliveryCapacity::of`]), in emails per hour, unless
/// the deployment sets another.
pub const BASE_PER_HOUR: u32 = 200;

impl DeliveryCapacity {
    /// A rate of `base` emails per hour, plus four times the project's hourly average over the last
    /// 30 days. The sum is multiplied by the lowest penalty factor of the last hour, day and week,
    /// but the rate is at least a quarter of `base`.
    #[expect(clippy::cast_precision_loss, reason = "no project has sent 2^52 emails")]
    pub fn of(stats: &DeliveryStats, base: u32) -> Self {
        let base = f64::from(base);
        let average = stats.month.sent as f64 / (MONTH / HOUR) as f64;
        let penalty_factor = [stats.hour, stats.day, stats.week].iter().map(DeliveryCounts::penalty).fold(1.0, f64::min);
        let per_hour = ((base + 4.0 * average) * penalty_factor).max(base / 4.0);
        Self {
            rate_per_second: per_hour / 3600.0,
            is_limited: true,
            boost_multiplier: 1.0,
            penalty_factor,
            is_boost_active: false,
            boost_expires_at: None,
        }
    }

    /// The rate in emails per hour.
    pub fn per_hour(&self) -> f64 {
        self.rate_per_second * 3600.0
    }
}

/// The factor by which a boost raises the rate.
const BOOST: f64 = 4.0;

impl DeliveryCapacity {
    /// The capacity with a boost until this time; unchanged if `until` is absent.
    pub fn boosted(self, until: Option<Timestamp>) -> Self {
        let Some(until) = until else { return self };
        Self {
            rate_per_second: self.rate_per_second * BOOST,
            boost_multiplier: BOOST,
            is_boost_active: true,
            boost_expires_at: Some(until),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(sent: u64, bounced: u64, marked_as_spam: u64) -> DeliveryCounts {
        DeliveryCounts { sent, bounced, marked_as_spam }
    }

    #[test]
    fn a_window_has_the_current_minute_and_those_before_it() {
        let now = Timestamp::from_second(100_000 * 60 + 59).expect("a time");
        let at = |minutes: i64| (100_000 - minutes, counts(1, 0, 0));
        let all =
            BTreeMap::from([at(-1), at(0), at(59), at(60), at(DAY - 1), at(DAY), at(7 * DAY - 1), at(7 * DAY), at(MONTH - 1), at(MONTH)]);
        let stats = DeliveryStats::of(&all, now);
        assert_eq!([stats.hour.sent, stats.day.sent, stats.week.sent, stats.month.sent], [2, 4, 6, 8]);
    }

    #[test]
    fn bounces_and_complaints_slow_a_project_but_never_stop_it() {
        let of = |hour: DeliveryCounts, month: DeliveryCounts| {
            let capacity = DeliveryCapacity::of(&DeliveryStats { hour, month, ..DeliveryStats::default() }, BASE_PER_HOUR);
            ((capacity.rate_per_second * 3600.0).round(), capacity.penalty_factor)
        };
        assert_eq!(of(counts(0, 0, 0), counts(0, 0, 0)), (200.0, 1.0));
        assert_eq!(of(counts(0, 0, 0), counts(7200, 0, 0)), (240.0, 1.0));
        assert_eq!(of(counts(100, 50, 0), counts(0, 0, 0)), (100.0, 0.5));
        assert_eq!(of(counts(100, 0, 1), counts(0, 0, 0)), (100.0, 0.5));
        assert_eq!(of(counts(100, 100, 100), counts(0, 0, 0)), (50.0, 0.1));
        assert_eq!(of(counts(0, 1, 0), counts(0, 0, 0)), (50.0, 0.1));
    }
}
