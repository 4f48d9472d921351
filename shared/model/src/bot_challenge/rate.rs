//! Usual rates, above which a bot challenge may be required.
//!
//! Requests are counted in sliding windows, as for rate limits, for the client's IP address, for
//! its network and for the project. A flood is therefore detected even if it spans two windows.
//! Refused requests and requests with a solved challenge also count, so the flood stays detected
//! until it ends.
//!
//! A project's OAuth flows are counted separately from its other guarded operations, so heavy use
//! of one does not use up the usual rate of the other.

use std::net::IpAddr;

use jiff::Timestamp;

use crate::bot_challenge::{BotChallenge, GuardedOperation};
use crate::limit::{Counter, Limits, Rate, Rule, Subject};

/// Counting stops at this multiple of the usual rate, so that the rest of a flood does not cause
/// writes in this window. A subject that has reached this multiple stays suspicious for seven
/// eighths of the next window, even if the flood ends now.
const MAX_MULTIPLE: u32 = 8;
/// The length of a project's window, in seconds.
const HOUR: u32 = 3600;

/// The counters for a request: those of its IP address and its network (unless the rules for them
/// are off), and the project's counter for `operation`. If `operation` is `None`, both of the
/// project's counters apply.
pub fn usual(limits: &Limits, settings: &BotChallenge, operation: Option<GuardedOperation>, ip: IpAddr, now: Timestamp) -> Vec<Counter> {
    let places = [(Rule::ChallengeUsualAddress, Subject::address(ip)), (Rule::ChallengeUsualNetwork, Subject::network(ip))];
    let places = places.into_iter().filter_map(|(rule, subject)| limits.counter(rule, &subject, now));
    let emails = (operation != Some(GuardedOperation::OAuth)).then(Subject::project);
    let flows = operation.is_none_or(|operation| operation == GuardedOperation::OAuth).then(Subject::flows);
    let rate = Rate::new(settings.usual_requests_per_hour, HOUR);
    let of_project = |subject| Counter::for_project(Rule::ChallengeUsualNetwork, rate, &subject, now);
    places.chain(emails.into_iter().chain(flows).map(of_project)).collect()
}

/// The counts of a subject with a usual rate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// The counter of the current window.
    pub counter: Counter,
    /// The count of the previous window.
    pub before: u32,
    /// The count of the current window.
    pub counted: u32,
}

impl Tally {
    /// How far this request exceeds the usual rate: 0 up to the rate, 1 above the rate, and one
    /// more for each further doubling.
    pub fn excess(&self) -> u32 {
        let with_this = self.counter.estimate(self.before, self.counted).saturating_add(1);
        let quota = self.counter.quota();
        if with_this <= quota { 0 } else { with_this.div_ceil(quota).next_power_of_two().ilog2() }
    }

    /// Whether the count is so high that counting stops.
    pub fn is_full(&self) -> bool {
        self.counted >= self.counter.quota().saturating_mul(MAX_MULTIPLE)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn counter(quota: u32, second: i64) -> Counter {
        let now = Timestamp::from_second(second).expect("in range");
        Counter::for_project(Rule::ChallengeUsualNetwork, Rate::new(quota, 100), &Subject::project(), now)
    }

    #[test]
    fn excess_grows_with_each_doubling() {
        let of = |counted| Tally { counter: counter(10, 1_050), before: 0, counted }.excess();
        assert_eq!([0, 9, 10, 19, 20, 39, 40, 79, 80].map(of), [0, 0, 1, 1, 2, 2, 3, 3, 4]);
    }

    #[test]
    fn a_flood_stays_above_the_rate_after_counting_stops() {
        let mut counted = HashMap::<String, u32>::new();
        for second in 1_000..1_400 {
            let counter = counter(10, second);
            let of = |name: &str| counted.get(name).copied().unwrap_or_default();
            let tally = Tally { before: of(&counter.before()), counted: of(&counter.to_string()), counter };
            assert!(second < 1_002 || tally.excess() > 0, "second {second}");
            if !tally.is_full() {
                *counted.entry(tally.counter.to_string()).or_default() += 10;
            }
        }
        assert!(counted.values().all(|count| *count <= 80), "{counted:?}");
    }

    #[test]
    fn flows_and_emails_of_a_project_are_counted_separately() {
        let of = |operation| {
            let ip = "203.0.113.7".parse().expect("an address");
            let counters = usual(&Limits::off(), &BotChallenge::default(), operation, ip, Timestamp::UNIX_EPOCH);
            counters.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let (emails, flows) = (of(Some(GuardedOperation::SignUp)), of(Some(GuardedOperation::OAuth)));
        assert_eq!((of(Some(GuardedOperation::SendSignInCode)), of(Some(GuardedOperation::Email))), (emails.clone(), emails.clone()));
        assert_ne!(emails, flows);
        assert_eq!(of(None), [emails, flows].concat());
    }

    #[test]
    fn a_network_is_a_24_or_48_bit_prefix() {
        let network = |text: &str| Subject::network(text.parse().expect("an address"));
        assert_eq!(network("203.0.113.7"), network("203.0.113.200"));
        assert_eq!(network("::ffff:203.0.113.7"), network("203.0.113.7"));
        assert_ne!(network("203.0.113.7"), network("203.0.114.7"));
        assert_eq!(network("2001:db8:1:2::1"), network("2001:db8:1:ffff::1"));
        assert_ne!(network("2001:db8:1::1"), network("2001:db8:2::1"));
    }
}
