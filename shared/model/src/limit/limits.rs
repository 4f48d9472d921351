//! The rate limits of a deployment.

use crypto::digest::Digest;
use jiff::Timestamp;

use crate::email::Email;
use crate::limit::counter::Counter;
use crate::limit::rate::Rate;
use crate::limit::rule::Rule;
use crate::limit::subject::Subject;

/// How often the creator of an account with an unverified address may invalidate the codes for that
/// address. The rate is high enough for correcting a mistyped password or address. The rate is also
/// low enough that the owner of the address, who needs minutes to use a code, can use one. If a
/// deployment sets n times the standard quota of [`Rule::Write`], this quota is also n times as
/// high (n is rounded down, but at least 1). If [`Rule::Write`] is off, this limit is off as well.
const ENDED_CODES: Rate = Rate::new(5, 3600);

/// The rate limits of a deployment; a rule without a rate is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits([Option<Rate>; Rule::ALL.len()]);

impl Limits {
    /// The standard rates, for production.
    pub fn standard() -> Self {
        Self(Rule::ALL.map(|rule| Some(rule.standard())))
    }

    /// A hundred times the standard rates: enough for a developer who works by hand, but not for a
    /// runaway loop.
    pub fn generous() -> Self {
        Self(Rule::ALL.map(|rule| Some(Rate { quota: rule.standard().quota * 100, ..rule.standard() })))
    }

    /// No limits.
    pub fn off() -> Self {
        Self([None; Rule::ALL.len()])
    }

    /// The same limits with another rate for one rule; `None` switches the rule off.
    pub fn with(mut self, rule: Rule, rate: Option<Rate>) -> Self {
        self.0[rule as usize] = rate;
        self
    }

    /// The rate of a rule; `None` if it is off.
    pub fn rate(&self, rule: Rule) -> Option<Rate> {
        self.0[rule as usize]
    }

    /// The counter of a subject in the window of `now`; `None` if the rule is off.
    pub fn counter(&self, rule: Rule, subject: &Subject, now: Timestamp) -> Option<Counter> {
        Some(Counter::new(rule, self.rate(rule)?, subject, now))
    }

    /// The counter of changes that invalidate the codes for an unverified address; `None` if
    /// [`Rule::Write`] is off.
    pub fn ended_codes(&self, email: &Email, now: Timestamp) -> Option<Counter> {
        let times = (self.rate(Rule::Write)?.quota / Rule::Write.standard().quota).max(1);
        let rate = Rate { quota: ENDED_CODES.quota.saturating_mul(times), ..ENDED_CODES };
        Some(Counter::new(Rule::Write, rate, &Subject(format!("ended-codes:{}", Digest::of(email.as_str()))), now))
    }
}
