//! The limits of a deployment.

use crypto::digest::Digest;
use jiff::Timestamp;

use crate::email::Email;
use crate::limit::counter::Counter;
use crate::limit::rate::Rate;
use crate::limit::rule::Rule;
use crate::limit::subject::Subject;

/// How often whoever made an account with an address that nobody has proved may end the codes for it: often enough for a password or
/// an address that was mistyped, and so seldom that the owner of the address, who needs minutes for a code, gets to use one. It grows and
/// ends with [`Rule::Write`].
const ENDED_CODES: Rate = Rate::new(5, 3600);

/// The limits of a deployment; a rule without a rate counts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits([Option<Rate>; Rule::ALL.len()]);

impl Limits {
    pub fn standard() -> Self {
        Self(Rule::ALL.map(|rule| Some(rule.standard())))
    }

    /// A hundred times the standard: what no developer reaches by hand and a runaway loop does.
    pub fn generous() -> Self {
        Self(Rule::ALL.map(|rule| Some(Rate { quota: rule.standard().quota * 100, ..rule.standard() })))
    }

    pub fn off() -> Self {
        Self([None; Rule::ALL.len()])
    }

    pub fn with(mut self, rule: Rule, rate: Option<Rate>) -> Self {
        self.0[rule as usize] = rate;
        self
    }

    pub fn rate(&self, rule: Rule) -> Option<Rate> {
        self.0[rule as usize]
    }

    /// The counter of a subject at this time; `None` when the rule is off.
    pub fn counter(&self, rule: Rule, subject: &Subject, now: Timestamp) -> Option<Counter> {
        Some(Counter::new(rule, self.rate(rule)?, subject, now))
    }

    /// The counter of changes that end the codes for an address, which nobody has proved.
    pub fn ended_codes(&self, email: &Email, now: Timestamp) -> Option<Counter> {
        let times = (self.rate(Rule::Write)?.quota / Rule::Write.standard().quota).max(1);
        let rate = Rate { quota: ENDED_CODES.quota.saturating_mul(times), ..ENDED_CODES };
        Some(Counter::new(Rule::Write, rate, &Subject(format!("ended-codes:{}", Digest::of(email.as_str()))), now))
    }
}
