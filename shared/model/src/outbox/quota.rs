//! How many mails a project may send now: a bucket of tokens, one for each mail, that fills at the rate of the project.
//!
//! A full bucket holds what the project may send in an hour. So the mails of a quiet hour go at once, as people wait for their codes,
//! and in no hour more than twice its rate goes out.
//!
//! Anybody can make a project mail a code to an address that nobody has proved. Such mails take a second token, of a bucket that fills half
//! as fast and holds what comes in half an hour: the other half is kept for recipients who are known, and a flood goes out slowly.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use wire::clock::Millis;

use crate::outbox::OutboxEntry;

/// How long a rate is used before it is worked out again: that reads a month of counters.
const RATE_LIFE: Millis = 60_000;
const HOUR: f64 = 3_600_000.0;

/// The part of a project's rate that mails to strangers may have.
const STRANGERS: f64 = 0.5;
/// How much of what strangers may get in an hour they may get at once; a mail at least.
const BURST: f64 = 0.5;

/// To whom mails go, as far as it matters for how many may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    Known,
    /// Addresses that nobody has proved, of mails with codes.
    Strangers,
}

impl Audience {
    pub fn of(entry: &OutboxEntry) -> Self {
        if entry.is_to_stranger { Self::Strangers } else { Self::Known }
    }
}

/// A project's bucket, as the table holds it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    tokens: f64,
    /// Second tokens of mails to strangers; absent from a bucket of the version before, whose strangers begin with all that there can be.
    #[serde(default = "all")]
    strangers: f64,
    filled_at: Millis,
    /// Tokens that come in an hour, and how many there can be.
    per_hour: f64,
    rated_at: Millis,
}

fn all() -> f64 {
    f64::MAX
}

impl Bucket {
    /// The bucket of a project that has not sent yet.
    pub fn full(per_hour: f64, now: Timestamp) -> Self {
        let now = now.as_millisecond();
        Self { tokens: per_hour, strangers: most_for_strangers(per_hour), filled_at: now, per_hour, rated_at: now }
    }

    /// Whether the rate has to be worked out again.
    pub fn is_rate_old(&self, now: Timestamp) -> bool {
        now.as_millisecond() - self.rated_at >= RATE_LIFE
    }

    /// The same bucket at another rate from now on.
    pub fn at_rate(self, per_hour: f64, now: Timestamp) -> Self {
        let filled = self.filled(now);
        let strangers = filled.strangers.min(most_for_strangers(per_hour));
        Self { tokens: filled.tokens.min(per_hour), strangers, per_hour, rated_at: now.as_millisecond(), ..filled }
    }

    /// Takes up to `wanted` tokens for mails to these; says how many.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is floored, and between 0 and `wanted`")]
    pub fn take(self, to: Audience, wanted: u32, now: Timestamp) -> (Self, u32) {
        let filled = self.filled(now);
        let most = match to {
            Audience::Known => filled.tokens,
            Audience::Strangers => filled.tokens.min(filled.strangers),
        };
        let taken = most.min(f64::from(wanted)).max(0.0).floor() as u32;
        (filled.with(to, -f64::from(taken)), taken)
    }

    /// Puts tokens back for which there was no mail.
    pub fn give_back(self, to: Audience, count: u32) -> Self {
        self.with(to, f64::from(count))
    }

    /// With so many tokens more, as far as there is room.
    fn with(self, to: Audience, more: f64) -> Self {
        let of_strangers = if to == Audience::Strangers { more } else { 0.0 };
        Self {
            tokens: (self.tokens + more).min(self.per_hour),
            strangers: (self.strangers + of_strangers).min(most_for_strangers(self.per_hour)),
            ..self
        }
    }

    /// With the tokens that have come until now. A clock that is behind that of another worker adds none.
    #[expect(clippy::cast_precision_loss, reason = "milliseconds of at most some years")]
    fn filled(self, now: Timestamp) -> Self {
        let passed = (now.as_millisecond() - self.filled_at).max(0);
        let come = self.per_hour * (passed as f64) / HOUR;
        let tokens = (self.tokens + come).min(self.per_hour);
        let strangers = (self.strangers + come * STRANGERS).min(most_for_strangers(self.per_hour));
        Self { tokens, strangers, filled_at: self.filled_at.max(now.as_millisecond()), ..self }
    }
}

fn most_for_strangers(per_hour: f64) -> f64 {
    (per_hour * STRANGERS * BURST).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000_000 + seconds).expect("a time")
    }

    #[test]
    fn a_full_bucket_gives_an_hour_of_mails_and_then_one_at_a_time() {
        let (bucket, taken) = Bucket::full(200.0, at(0)).take(Audience::Known, 500, at(0));
        assert_eq!(taken, 200);
        let (bucket, taken) = bucket.take(Audience::Known, 10, at(17));
        assert_eq!(taken, 0);
        let (bucket, taken) = bucket.take(Audience::Known, 10, at(18));
        assert_eq!(taken, 1);
        assert_eq!(bucket.take(Audience::Known, 10, at(36)).1, 1);
    }

    #[test]
    fn what_is_not_taken_is_kept_for_an_hour_at_most() {
        let (bucket, _) = Bucket::full(200.0, at(0)).take(Audience::Known, 200, at(0));
        assert_eq!(bucket.take(Audience::Known, 1000, at(1800)).1, 100);
        assert_eq!(bucket.take(Audience::Known, 1000, at(86_400)).1, 200);
        assert_eq!(bucket.give_back(Audience::Known, 500).take(Audience::Known, 1000, at(0)).1, 200);
    }

    #[test]
    fn strangers_take_half_of_what_comes_and_leave_the_rest() {
        let bucket = Bucket::full(240.0, at(0));
        let (mut bucket, mut sent) = bucket.take(Audience::Strangers, 1000, at(0));
        assert_eq!(sent, 60, "what comes for them in half an hour");
        for minute in 1..=60 {
            let (next, taken) = bucket.take(Audience::Strangers, 1000, at(minute * 60));
            (bucket, sent) = (next, sent + taken);
        }
        assert_eq!(sent, 60 + 120);
        // Those who are known may have what the strangers left, and no more.
        let (bucket, taken) = bucket.take(Audience::Known, 1000, at(3600));
        assert_eq!(taken, 240 - 2);
        assert_eq!(bucket.take(Audience::Strangers, 1000, at(3600)).1, 0);
        let (bucket, taken) = bucket.take(Audience::Strangers, 1000, at(3660));
        assert_eq!((taken, bucket.give_back(Audience::Strangers, 2).take(Audience::Strangers, 9, at(3660)).1), (2, 2));
    }

    #[test]
    fn a_project_of_few_mails_still_reaches_strangers_and_a_bucket_of_the_version_before_goes_on() {
        assert_eq!(Bucket::full(2.0, at(0)).take(Audience::Strangers, 9, at(0)).1, 1);
        let before = r#"{"tokens":200.0,"filled_at":1000000000000,"per_hour":240.0,"rated_at":1000000000000}"#;
        let bucket: Bucket = serde_json::from_str(before).expect("a bucket");
        assert_eq!(bucket.take(Audience::Strangers, 1000, at(0)).1, 60);
    }

    #[test]
    fn a_slower_rate_holds_from_when_it_is_known() {
        let bucket = Bucket::full(200.0, at(0)).at_rate(50.0, at(60));
        assert_eq!(bucket.take(Audience::Known, 1000, at(60)).1, 50);
        assert!(!bucket.is_rate_old(at(119)) && bucket.is_rate_old(at(120)));
    }

    #[test]
    fn clocks_that_differ_give_no_tokens_twice() {
        let (bucket, taken) = Bucket::full(3600.0, at(0)).take(Audience::Known, 3600, at(10));
        assert_eq!((taken, bucket.take(Audience::Known, 10, at(5)).1), (3600, 0));
        assert_eq!(bucket.take(Audience::Known, 10, at(5)).0.take(Audience::Known, 10, at(10)).1, 0);
    }
}
