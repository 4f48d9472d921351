//! How many mails a project may send now: a bucket of tokens, one for each mail, that fills at the rate of the project.
//!
//! A full bucket holds what the project may send in an hour. So the mails of a quiet hour go at once, as people wait for their codes,
//! and in no hour more than twice its rate goes out.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::outbox::Millis;

/// How long a rate is used before it is worked out again: that reads a month of counters.
const RATE_LIFE: Millis = 60_000;
const HOUR: f64 = 3_600_000.0;

/// A project's bucket, as the table holds it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    tokens: f64,
    filled_at: Millis,
    /// Tokens that come in an hour, and how many there can be.
    per_hour: f64,
    rated_at: Millis,
}

impl Bucket {
    /// The bucket of a project that has not sent yet.
    pub fn full(per_hour: f64, now: Timestamp) -> Self {
        let now = now.as_millisecond();
        Self { tokens: per_hour, filled_at: now, per_hour, rated_at: now }
    }

    /// Whether the rate has to be worked out again.
    pub fn is_rate_old(&self, now: Timestamp) -> bool {
        now.as_millisecond() - self.rated_at >= RATE_LIFE
    }

    /// The same bucket at another rate from now on.
    pub fn at_rate(self, per_hour: f64, now: Timestamp) -> Self {
        let filled = self.filled(now);
        Self { tokens: filled.tokens.min(per_hour), per_hour, rated_at: now.as_millisecond(), ..filled }
    }

    /// Takes up to `wanted` tokens; says how many.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is floored, and between 0 and `wanted`")]
    pub fn take(self, wanted: u32, now: Timestamp) -> (Self, u32) {
        let filled = self.filled(now);
        let taken = filled.tokens.min(f64::from(wanted)).max(0.0).floor() as u32;
        (Self { tokens: filled.tokens - f64::from(taken), ..filled }, taken)
    }

    /// Puts tokens back for which there was no mail.
    pub fn give_back(self, count: u32) -> Self {
        Self { tokens: (self.tokens + f64::from(count)).min(self.per_hour), ..self }
    }

    /// With the tokens that have come until now. A clock that is behind that of another worker adds none.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of at most some years")]
    fn filled(self, now: Timestamp) -> Self {
        let passed = (now.as_millisecond() - self.filled_at).max(0);
        let tokens = (self.tokens + self.per_hour * (passed as f64) / HOUR).min(self.per_hour);
        Self { tokens, filled_at: self.filled_at.max(now.as_millisecond()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000_000 + seconds).expect("a time")
    }

    #[test]
    fn a_full_bucket_gives_an_hour_of_mails_and_then_one_at_a_time() {
        let (bucket, taken) = Bucket::full(200.0, at(0)).take(500, at(0));
        assert_eq!(taken, 200);
        let (bucket, taken) = bucket.take(10, at(17));
        assert_eq!(taken, 0);
        let (bucket, taken) = bucket.take(10, at(18));
        assert_eq!(taken, 1);
        assert_eq!(bucket.take(10, at(36)).1, 1);
    }

    #[test]
    fn what_is_not_taken_is_kept_for_an_hour_at_most() {
        let (bucket, _) = Bucket::full(200.0, at(0)).take(200, at(0));
        assert_eq!(bucket.take(1000, at(1800)).1, 100);
        assert_eq!(bucket.take(1000, at(86_400)).1, 200);
        assert_eq!(bucket.give_back(500).take(1000, at(0)).1, 200);
    }

    #[test]
    fn a_slower_rate_holds_from_when_it_is_known() {
        let bucket = Bucket::full(200.0, at(0)).at_rate(50.0, at(60));
        assert_eq!(bucket.take(1000, at(60)).1, 50);
        assert!(!bucket.is_rate_old(at(119)) && bucket.is_rate_old(at(120)));
    }

    #[test]
    fn clocks_that_differ_give_no_tokens_twice() {
        let (bucket, taken) = Bucket::full(3600.0, at(0)).take(3600, at(10));
        assert_eq!((taken, bucket.take(10, at(5)).1), (3600, 0));
        assert_eq!(bucket.take(10, at(5)).0.take(10, at(10)).1, 0);
    }
}
