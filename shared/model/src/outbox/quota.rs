//! How many emails a project may send now: a token bucket, refilled at the project's rate. An email
//! takes one token per recipient. An email is sent as soon as the bucket has one of its tokens, and
//! later emails wait until the missing tokens have been added. An email with more recipients than
//! the bucket's capacity can therefore still be sent, and a project never exceeds its rate for
//! long.
//!
//! A full bucket holds the tokens of one hour at the project's rate. After a quiet hour, emails are
//! therefore sent immediately, because people wait for their codes. In any hour, a project sends at
//! most about twice its hourly rate.
//!
//! Anyone can make a project send a code or a notice to an unverified address. Each built-in email
//! to an unverified address therefore also takes the same number of tokens from a second bucket,
//! which refills half as fast as the first and holds half an hour's refill. Half of the rate is
//! therefore reserved for known recipients, and a flood of emails to unverified addresses is sent
//! slowly.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::clock::Millis;

use crate::outbox::{MAX_ADDRESSES, OutboxEntry};

/// How long a rate is used before it is recomputed; recomputing reads a month of counters.
const RATE_LIFE: Millis = 60_000;
/// An hour in milliseconds.
const HOUR: f64 = 3_600_000.0;

/// The share of a project's rate that emails to strangers may use.
const STRANGERS: f64 = 0.5;
/// The share of the strangers' hourly rate that may be sent in one burst; the burst is at least one
/// email.
const BURST: f64 = 0.5;

/// The two kinds of recipients that the quota distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// Recipients of all emails other than those for [`Self::Strangers`].
    Known,
    /// Recipients of a built-in email whose addresses are not known to be verified (see
    /// [`OutboxEntry::is_to_stranger`]).
    Strangers,
}

impl Audience {
    /// The audience of an entry.
    pub fn of(entry: &OutboxEntry) -> Self {
        if entry.is_to_stranger { Self::Strangers } else { Self::Known }
    }
}

/// The number of tokens for an entry's email. An email to too many addresses is not sent, so only
/// one token is taken for it.
pub fn tokens(entry: &OutboxEntry) -> usize {
    let count = entry.to.addresses().len();
    if count > MAX_ADDRESSES { 1 } else { count.max(1) }
}

/// A project's bucket, as stored in the table.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// Negative if tokens are owed.
    tokens: f64,
    /// Tokens for emails to strangers. Absent in buckets from earlier versions, which start full.
    #[serde(default = "all")]
    strangers: f64,
    filled_at: Millis,
    /// Tokens added per hour, which is also the capacity of the bucket.
    per_hour: f64,
    rated_at: Millis,
}

fn all() -> f64 {
    f64::MAX
}

impl Bucket {
    /// The bucket of a project that has not sent anything.
    pub fn full(per_hour: f64, now: Timestamp) -> Self {
        let now = now.as_millisecond();
        Self { tokens: per_hour, strangers: max_for_strangers(per_hour), filled_at: now, per_hour, rated_at: now }
    }

    /// Whether the rate must be recomputed.
    pub fn is_rate_old(&self, now: Timestamp) -> bool {
        now.as_millisecond() - self.rated_at >= RATE_LIFE
    }

    /// The bucket refilled up to `now`, with a new rate from then on.
    pub fn at_rate(self, per_hour: f64, now: Timestamp) -> Self {
        let filled = self.filled(now);
        let strangers = filled.strangers.min(max_for_strangers(per_hour));
        Self { tokens: filled.tokens.min(per_hour), strangers, per_hour, rated_at: now.as_millisecond(), ..filled }
    }

    /// Takes up to `wanted` tokens for this audience and returns how many were taken.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the value is floored, and between 0 and `wanted`")]
    pub fn take(self, to: Audience, wanted: u32, now: Timestamp) -> (Self, u32) {
        let filled = self.filled(now);
        let max = match to {
            Audience::Known => filled.tokens,
            Audience::Strangers => filled.tokens.min(filled.strangers),
        };
        let taken = max.min(f64::from(wanted)).max(0.0).floor() as u32;
        (filled.with(to, -f64::from(taken)), taken)
    }

    /// Takes tokens even if the bucket does not contain enough.
    pub fn owe(self, to: Audience, count: u32) -> Self {
        self.with(to, -f64::from(count))
    }

    /// Returns tokens that were taken but not used for an email.
    pub fn give_back(self, to: Audience, count: u32) -> Self {
        self.with(to, f64::from(count))
    }

    /// The bucket with `more` tokens added, up to its capacity; a negative number takes tokens.
    fn with(self, to: Audience, more: f64) -> Self {
        let of_strangers = if to == Audience::Strangers { more } else { 0.0 };
        Self {
            tokens: (self.tokens + more).min(self.per_hour),
            strangers: (self.strangers + of_strangers).min(max_for_strangers(self.per_hour)),
            ..self
        }
    }

    /// The bucket refilled up to `now`; unchanged if the clock of the worker that last refilled the
    /// bucket is ahead of this clock.
    #[expect(clippy::cast_precision_loss, reason = "at most a few years in milliseconds, which is far below 2^53")]
    fn filled(self, now: Timestamp) -> Self {
        let passed = (now.as_millisecond() - self.filled_at).max(0);
        let come = self.per_hour * (passed as f64) / HOUR;
        let tokens = (self.tokens + come).min(self.per_hour);
        let strangers = (self.strangers + come * STRANGERS).min(max_for_strangers(self.per_hour));
        Self { tokens, strangers, filled_at: self.filled_at.max(now.as_millisecond()), ..self }
    }
}

fn max_for_strangers(per_hour: f64) -> f64 {
    (per_hour * STRANGERS * BURST).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000_000 + seconds).expect("a time")
    }

    #[test]
    fn a_full_bucket_has_an_hour_of_emails_then_one_at_a_time() {
        let (bucket, taken) = Bucket::full(200.0, at(0)).take(Audience::Known, 500, at(0));
        assert_eq!(taken, 200);
        let (bucket, taken) = bucket.take(Audience::Known, 10, at(17));
        assert_eq!(taken, 0);
        let (bucket, taken) = bucket.take(Audience::Known, 10, at(18));
        assert_eq!(taken, 1);
        assert_eq!(bucket.take(Audience::Known, 10, at(36)).1, 1);
    }

    #[test]
    fn unused_tokens_are_kept_for_at_most_an_hour() {
        let (bucket, _) = Bucket::full(200.0, at(0)).take(Audience::Known, 200, at(0));
        assert_eq!(bucket.take(Audience::Known, 1000, at(1800)).1, 100);
        assert_eq!(bucket.take(Audience::Known, 1000, at(86_400)).1, 200);
        assert_eq!(bucket.give_back(Audience::Known, 500).take(Audience::Known, 1000, at(0)).1, 200);
    }

    #[test]
    fn tokens_that_are_owed_delay_the_next_emails() {
        let (bucket, taken) = Bucket::full(60.0, at(0)).take(Audience::Known, 60, at(0));
        let bucket = bucket.owe(Audience::Known, 40);
        assert_eq!((taken, bucket.take(Audience::Known, 1, at(40 * 60)).1), (60, 0));
        assert_eq!(bucket.take(Audience::Known, 1, at(41 * 60)).1, 1);
        let bucket = Bucket::full(60.0, at(0)).owe(Audience::Strangers, 20);
        assert_eq!((bucket.take(Audience::Strangers, 9, at(600)).1, bucket.take(Audience::Known, 99, at(0)).1), (0, 40));
        assert_eq!(bucket.give_back(Audience::Strangers, 6).take(Audience::Strangers, 9, at(0)).1, 1);
    }

    #[test]
    fn emails_to_strangers_use_at_most_half_of_new_tokens() {
        let bucket = Bucket::full(240.0, at(0));
        let (mut bucket, mut sent) = bucket.take(Audience::Strangers, 1000, at(0));
        assert_eq!(sent, 60, "the tokens that strangers get in half an hour");
        for minute in 1..=60 {
            let (next, taken) = bucket.take(Audience::Strangers, 1000, at(minute * 60));
            (bucket, sent) = (next, sent + taken);
        }
        assert_eq!(sent, 60 + 120);
        // Known recipients can use only the tokens that emails to strangers have left.
        let (bucket, taken) = bucket.take(Audience::Known, 1000, at(3600));
        assert_eq!(taken, 240 - 2);
        assert_eq!(bucket.take(Audience::Strangers, 1000, at(3600)).1, 0);
        let (bucket, taken) = bucket.take(Audience::Strangers, 1000, at(3660));
        assert_eq!((taken, bucket.give_back(Audience::Strangers, 2).take(Audience::Strangers, 9, at(3660)).1), (2, 2));
    }

    #[test]
    fn strangers_get_at_least_one_token_and_old_buckets_start_full() {
        assert_eq!(Bucket::full(2.0, at(0)).take(Audience::Strangers, 9, at(0)).1, 1);
        let before = r#"{"tokens":200.0,"filled_at":1000000000000,"per_hour":240.0,"rated_at":1000000000000}"#;
        let bucket: Bucket = serde_json::from_str(before).expect("a bucket");
        assert_eq!(bucket.take(Audience::Strangers, 1000, at(0)).1, 60);
    }

    #[test]
    fn a_lower_rate_applies_as_soon_as_it_is_known() {
        let bucket = Bucket::full(200.0, at(0)).at_rate(50.0, at(60));
        assert_eq!(bucket.take(Audience::Known, 1000, at(60)).1, 50);
        assert!(!bucket.is_rate_old(at(119)) && bucket.is_rate_old(at(120)));
    }

    #[test]
    fn differing_clocks_never_grant_tokens_twice() {
        let (bucket, taken) = Bucket::full(3600.0, at(0)).take(Audience::Known, 3600, at(10));
        assert_eq!((taken, bucket.take(Audience::Known, 10, at(5)).1), (3600, 0));
        assert_eq!(bucket.take(Audience::Known, 10, at(5)).0.take(Audience::Known, 10, at(10)).1, 0);
    }
}
