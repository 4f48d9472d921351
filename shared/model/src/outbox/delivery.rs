//! How a project's mails fared: what is counted, over which times, and what may be sent by that.
//!
//! Mails are counted by the minute in which something became of them, so a window of an hour is an hour and not what a clock's hour
//! happens to have left. A window has the current minute and those before it.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::outbox::{OutboxEntry, Stage};

/// What became of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Sent,
    Bounced,
    MarkedAsSpam,
}

impl OutboxEntry {
    /// What became of the mail since it was `before`: that is to be counted, once for each mail and fate.
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

/// How many mails had which fate in a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeliveryCounts {
    pub sent: u64,
    pub bounced: u64,
    pub marked_as_spam: u64,
}

impl DeliveryCounts {
    pub fn add(&mut self, fate: Fate, count: u64) {
        match fate {
            Fate::Sent => self.sent += count,
            Fate::Bounced => self.bounced += count,
            Fate::MarkedAsSpam => self.marked_as_spam += count,
        }
    }

    /// From 0.1 for a sender whose mails nobody wants to 1 for one without complaints. A complaint weighs as much as 50 bounces.
    #[expect(clippy::cast_precision_loss, reason = "no project has sent 2^52 mails")]
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

/// The counts of the last hour, day, week and month of 30 days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
pub struct DeliveryStats {
    pub hour: DeliveryCounts,
    pub day: DeliveryCounts,
    pub week: DeliveryCounts,
    pub month: DeliveryCounts,
}

const HOUR: i64 = 60;
const DAY: i64 = 24 * HOUR;
/// How far back anything is counted, in minutes.
pub const MONTH: i64 = 30 * DAY;

/// The minute of a time, counted from the epoch.
pub fn minute(time: Timestamp) -> i64 {
    time.as_second().div_euclid(60)
}

impl DeliveryStats {
    /// Adds up counts by their minutes.
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
    pub rate_per_second: f64,
    /// 1 without a boost.
    pub boost_multiplier: f64,
    /// 0.1 to 1: the share of the rate that bounces and complaints leave.
    pub penalty_factor: f64,
    pub is_boost_active: bool,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub boost_expires_at: Option<Timestamp>,
}

/// Mails an hour that any project may send, where a deployment says nothing else.
pub const BASE_PER_HOUR: u32 = 200;

impl DeliveryCapacity {
    /// `base` mails an hour and four times what the project sends in an hour on average, reduced by the worst penalty; a quarter of the
    /// base at least.
    #[expect(clippy::cast_precision_loss, reason = "no project has sent 2^52 mails")]
    pub fn of(stats: &DeliveryStats, base: u32) -> Self {
        let base = f64::from(base);
        let average = stats.month.sent as f64 / (MONTH / HOUR) as f64;
        let penalty_factor = [stats.hour, stats.day, stats.week].iter().map(DeliveryCounts::penalty).fold(1.0, f64::min);
        let per_hour = ((base + 4.0 * average) * penalty_factor).max(base / 4.0);
        Self { rate_per_second: per_hour / 3600.0, boost_multiplier: 1.0, penalty_factor, is_boost_active: false, boost_expires_at: None }
    }

    /// How many mails may be sent in an hour.
    pub fn per_hour(&self) -> f64 {
        self.rate_per_second * 3600.0
    }
}

/// How much faster a boost makes.
const BOOST: f64 = 4.0;

impl DeliveryCapacity {
    /// The same with the boost that lasts until then, if there is one.
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
    fn bounces_and_complaints_slow_a_project_down_but_not_to_nothing() {
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
