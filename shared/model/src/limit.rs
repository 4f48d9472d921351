//! Limits: how much one may do in a span of time.
//!
//! An operation says in its route which [`Limit`] it is under; a [`Rule`] says who is counted, and a [`Rate`] of the deployment how much
//! is let through. There is one counter for each subject and window, which one conditional update counts, however many processes do so.
//! Beside it the counter of the window before still counts for the part of it that is less than a window ago, as if what it counted had
//! come evenly. So a burst is no larger than the quota wherever a window ends, and what comes after it is let through evenly: in a span of
//! `s` seconds at most `quota * (1 + s / window)`, rounded up. Each subject's windows begin at another moment, which spreads what comes
//! back after a refusal.

use std::fmt;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::str::FromStr;

use crypto::digest::Digest;
use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use wire::id::UserId;

use crate::email::Email;

/// What an operation is under, as its route says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Limit {
    SignUp,
    SignIn,
    /// Everything that mails a code.
    SendCode,
    /// Everything that checks or redeems a code.
    Code,
    /// Refreshing and exchanging tokens.
    Token,
    Authorize,
    /// Proof-of-work challenges, and what decides whether a project asks for a bot challenge.
    Challenge,
    /// Every other operation that writes.
    Write,
    /// What every operation counts: requests that name what does not exist, or prove nothing.
    Unproved,
}

impl Limit {
    /// What clients and operators call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::SignUp => "sign-up",
            Self::SignIn => "sign-in",
            Self::SendCode => "send-code",
            Self::Code => "code",
            Self::Token => "token",
            Self::Authorize => "authorize",
            Self::Challenge => "challenge",
            Self::Write => "write",
            Self::Unproved => "unproved",
        }
    }

    /// What a request of a client, or of a server, is counted by as soon as it is known who sends it. What is not here is counted by the
    /// operation, which knows its subject later.
    pub const fn of_request(self, is_client: bool) -> &'static [(Rule, By)] {
        match (self, is_client) {
            (Self::SignUp, true) => &[(Rule::SignUp, By::Address), (Rule::SignUpNetwork, By::Network)],
            (Self::SignUp, false) => &[(Rule::SignUpServer, By::Project)],
            (Self::SignIn, true) => &[(Rule::SignIn, By::Address)],
            (Self::SendCode, true) => &[(Rule::SendCode, By::Address), (Rule::SendCodeNetwork, By::Network)],
            (Self::Code, true) => &[(Rule::Code, By::Address)],
            (Self::Code, false) => &[(Rule::CodeServer, By::Project)],
            (Self::Write, true) => &[(Rule::Write, By::Caller)],
            (Self::Write, false) => &[(Rule::WriteServer, By::Caller)],
            (Self::SignIn | Self::SendCode, false) | (Self::Token | Self::Authorize | Self::Challenge | Self::Unproved, _) => &[],
        }
    }
}

/// How often whoever made an account with an address that nobody has proved may end the codes for it: often enough for a password or
/// an address that was mistyped, and so seldom that the owner of the address, who needs minutes for a code, gets to use one. It grows and
/// ends with [`Rule::Write`].
const ENDED_CODES: Rate = Rate::new(5, 3600);

/// Whom a request is counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    Address,
    /// The addresses of a site: IPv4 /24, IPv6 /48.
    Network,
    /// All requests of the project together.
    Project,
    /// The user of a client, or the key of a server; the address of a client without a user.
    Caller,
}

/// One line of the deployment's limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    SignUp,
    SignUpNetwork,
    SignUpServer,
    SignIn,
    SignInFailures,
    SendCode,
    SendCodeNetwork,
    SendCodeRecipient,
    SendCodeRecipientServer,
    /// In projects that ask for bot challenges.
    SendCodeUser,
    Code,
    CodeServer,
    Token,
    TokenUnknown,
    Authorize,
    Challenge,
    /// Above which an address is suspicious ([`bot_challenge_rate`](crate::bot_challenge::rate)).
    ChallengeUsualAddress,
    /// The same of its network: IPv4 /24, IPv6 /48.
    ChallengeUsualNetwork,
    /// Whose challenge could not be solved or checked; off: nobody is let through for that.
    ChallengeUnavailableNetwork,
    ChallengeUnavailableProject,
    Write,
    WriteServer,
    Unproved,
}

impl Rule {
    pub const ALL: [Self; 23] = [
        Self::SignUp,
        Self::SignUpNetwork,
        Self::SignUpServer,
        Self::SignIn,
        Self::SignInFailures,
        Self::SendCode,
        Self::SendCodeNetwork,
        Self::SendCodeRecipient,
        Self::SendCodeRecipientServer,
        Self::SendCodeUser,
        Self::Code,
        Self::CodeServer,
        Self::Token,
        Self::TokenUnknown,
        Self::Authorize,
        Self::Challenge,
        Self::ChallengeUsualAddress,
        Self::ChallengeUsualNetwork,
        Self::ChallengeUnavailableNetwork,
        Self::ChallengeUnavailableProject,
        Self::Write,
        Self::WriteServer,
        Self::Unproved,
    ];

    /// Its name, the limit that it is a part of, its standard rate, and what it counts.
    #[rustfmt::skip]
    const fn row(self) -> (&'static str, Limit, Rate, &'static str) {
        match self {
            Self::SignUp => ("sign-up", Limit::SignUp, Rate::new(20, 600), "Sign-ups from an address"),
            Self::SignUpNetwork => ("sign-up-network", Limit::SignUp, Rate::new(80, 600), "Sign-ups from a network (IPv4 /24, IPv6 /48)"),
            Self::SignUpServer => ("sign-up-server", Limit::SignUp, Rate::new(600, 60), "Sign-ups by the servers of a project"),
            Self::SignIn => ("sign-in", Limit::SignIn, Rate::new(60, 600), "Sign-ins with a password from an address"),
            Self::SignInFailures => ("sign-in-failures", Limit::SignIn, Rate::new(10, 600), "Wrong passwords for an account"),
            Self::SendCode => ("send-code", Limit::SendCode, Rate::new(30, 600), "Mails with a code that an address asks for"),
            Self::SendCodeNetwork => ("send-code-network", Limit::SendCode, Rate::new(120, 600), "Mails with a code that a network asks for (IPv4 /24, IPv6 /48)"),
            Self::SendCodeRecipient => ("send-code-recipient", Limit::SendCode, Rate::new(5, 600), "Mails with a code to one recipient that clients ask for"),
            Self::SendCodeRecipientServer => ("send-code-recipient-server", Limit::SendCode, Rate::new(30, 600), "Mails with a code to one recipient that servers ask for"),
            Self::SendCodeUser => ("send-code-user", Limit::SendCode, Rate::new(30, 3600), "Mails with a code to addresses that nobody may have proved that a user asks for, where a project asks for bot challenges"),
            Self::Code => ("code", Limit::Code, Rate::new(60, 600), "Codes that an address checks or redeems"),
            Self::CodeServer => ("code-server", Limit::Code, Rate::new(600, 60), "Codes that the servers of a project check or redeem"),
            Self::Token => ("token", Limit::Token, Rate::new(60, 600), "Uses of a refresh token"),
            Self::TokenUnknown => ("token-unknown", Limit::Token, Rate::new(300, 600), "Unknown refresh tokens and authorization codes from an address"),
            Self::Authorize => ("authorize", Limit::Authorize, Rate::new(60, 600), "OAuth flows that an address begins"),
            Self::Challenge => ("challenge", Limit::Challenge, Rate::new(60, 600), "Proof-of-work challenges that an address asks for"),
            Self::ChallengeUsualAddress => ("challenge-usual-address", Limit::Challenge, Rate::new(40, 3600), "Sign-ups, mails with a code and OAuth flows that are usual for an address"),
            Self::ChallengeUsualNetwork => ("challenge-usual-network", Limit::Challenge, Rate::new(80, 3600), "Sign-ups, mails with a code and OAuth flows that are usual for a network"),
            Self::ChallengeUnavailableNetwork => ("challenge-unavailable-network", Limit::Challenge, Rate::new(3, 3600), "Suspicious requests from a network whose challenge is not available"),
            Self::ChallengeUnavailableProject => ("challenge-unavailable-project", Limit::Challenge, Rate::new(10, 3600), "Suspicious requests of a project whose challenge is not available"),
            Self::Write => ("write", Limit::Write, Rate::new(300, 60), "Other writing requests of a user"),
            Self::WriteServer => ("write-server", Limit::Write, Rate::new(3000, 60), "Other writing requests with a key of a server"),
            Self::Unproved => ("unproved", Limit::Unproved, Rate::new(120, 600), "Wrong keys and unknown projects from an address"),
        }
    }

    pub const fn name(self) -> &'static str {
        self.row().0
    }

    /// What a refusal names.
    pub const fn limit(self) -> Limit {
        self.row().1
    }

    pub const fn standard(self) -> Rate {
        self.row().2
    }

    /// What it counts, for operators.
    pub const fn summary(self) -> &'static str {
        self.row().3
    }

    /// The environment variable that changes it: `GATELET_LIMIT_` and the name in capitals.
    pub fn variable(self) -> String {
        format!("GATELET_LIMIT_{}", self.name().replace('-', "_").to_uppercase())
    }
}

/// How many in how long, written as `60/600`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// At least 1.
    pub quota: u32,
    window: NonZeroU32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a number of requests and a number of seconds, as in 60/600")]
pub struct InvalidRate;

impl Rate {
    /// `window` is a second at least.
    pub const fn new(quota: u32, window: u32) -> Self {
        Self { quota, window: NonZeroU32::MIN.saturating_add(window.saturating_sub(1)) }
    }

    /// Seconds, at least 1.
    pub const fn window(self) -> u32 {
        self.window.get()
    }
}

impl FromStr for Rate {
    type Err = InvalidRate;

    fn from_str(text: &str) -> Result<Self, InvalidRate> {
        let (quota, window) = text.split_once('/').ok_or(InvalidRate)?;
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number > 0).ok_or(InvalidRate);
        Ok(Self::new(number(quota)?, number(window)?))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.quota, self.window)
    }
}

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

/// Who or what is counted. Addresses of people and secrets are here as digests alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject(String);

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Subject {
    /// An IPv4 address, or the /64 of an IPv6 address: the least that a provider gives to one customer (RFC 6177).
    pub fn address(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Self(ip.to_string()),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                Self(format!("{a:x}:{b:x}:{c:x}:{d:x}::/64"))
            }
        }
    }

    /// The /24 of an IPv4 address, or the /48 of an IPv6 address: what a site has at most (RFC 6177).
    pub fn network(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => {
                let [a, b, c, _] = ip.octets();
                Self(format!("{a}.{b}.{c}.0/24"))
            }
            IpAddr::V6(ip) => {
                let [a, b, c, ..] = ip.segments();
                Self(format!("{a:x}:{b:x}:{c:x}::/48"))
            }
        }
    }

    pub fn project() -> Self {
        Self("project".to_owned())
    }

    /// The OAuth flows of the project together.
    pub fn flows() -> Self {
        Self("flows".to_owned())
    }

    pub fn user(id: UserId) -> Self {
        Self(id.to_string())
    }

    /// A key or a refresh token, and so whoever has it.
    pub fn secret(secret: &SecretString) -> Self {
        Self(Digest::of(secret.expose_secret()).to_string())
    }

    /// A proof that a user gives besides signing in with a password. What people send as an address
    /// is a digest, and so never one of these.
    pub fn proof(kind: &str, user: UserId) -> Self {
        Self(format!("{kind}:{user}"))
    }

    /// A mail address, in its normalised form when it has one.
    pub fn email(text: &str) -> Self {
        Self(Digest::of(text).to_string())
    }
}

/// A counter of one subject in one window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    rule: Rule,
    rate: Rate,
    subject: Subject,
    /// Number of the window, counted from the epoch.
    window: i64,
    pub resets_at: Timestamp,
    now: Timestamp,
}

impl Counter {
    fn new(rule: Rule, rate: Rate, subject: &Subject, now: Timestamp) -> Self {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millisecond(millis).expect("in range")
    }

    #[test]
    fn an_ipv6_address_is_its_64_and_a_mapped_one_is_its_ipv4() {
        let subject = |text: &str| Subject::address(text.parse().expect("an address"));
        assert_eq!(subject("2001:db8:1:2:3::4"), subject("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(subject("2001:db8:1:2::1"), subject("2001:db8:1:3::1"));
        assert_eq!(subject("::ffff:203.0.113.7"), subject("203.0.113.7"));
        assert_ne!(subject("203.0.113.7"), subject("203.0.113.8"));
    }

    #[test]
    fn a_window_lasts_as_long_as_it_says_and_the_next_begins_where_it_ends() {
        let limits = Limits::standard();
        for name in ["a@example.com", "b@example.com", "c@example.com"] {
            let counter = |now| limits.counter(Rule::SignInFailures, &Subject::email(name), now).expect("it is on");
            let first = counter(at(1_767_268_800_000));
            let last = counter(at(first.resets_at.as_millisecond() - 1));
            assert_eq!((first.to_string(), last.refusal(0).retry_after_seconds), (last.to_string(), 1));
            let next = counter(first.resets_at);
            assert_eq!(next.before(), first.to_string());
            assert_eq!(next.resets_at.as_millisecond() - first.resets_at.as_millisecond(), 600_000);
            assert_eq!(next.refusal(0).retry_after_seconds, 600);
        }
    }

    /// A counter of 10 in 600 seconds, so many milliseconds after its window began.
    fn counter_at(millis: i64) -> Counter {
        let new = |now| Counter::new(Rule::Code, Rate::new(10, 600), &Subject::project(), now);
        new(at(new(at(0)).resets_at.as_millisecond() + millis))
    }

    #[test]
    fn the_window_before_counts_for_the_part_of_it_that_is_less_than_a_window_ago() {
        let quotas = |before| [0, 1, 60_000, 60_001, 300_000, 300_001, 599_999].map(|millis| counter_at(millis).quota_after(before));
        assert_eq!(quotas(0), [10; 7]);
        assert_eq!(quotas(10), [1, 1, 2, 2, 6, 6, 10]);
        assert_eq!(quotas(1), [10; 7]);
        // A quota that was lowered.
        assert_eq!(quotas(1000)[0], 0);
    }

    #[test]
    fn whoever_waits_as_long_as_it_is_told_finds_room_and_not_much_earlier() {
        for (millis, before, counted) in
            [(0, 10, 1), (0, 10, 10), (59_000, 10, 5), (100_000, 7, 10), (250_500, 10, 9), (599_999, 3, 10), (0, 1000, 0), (5, 10, 4)]
        {
            let counter = counter_at(millis);
            let seconds = i64::try_from(counter.refusal_at(before, counted).retry_after_seconds).expect("small");
            let has_room = |wait: i64| {
                let then = counter_at(millis + wait);
                let (before, counted) = if then.window == counter.window { (before, counted) } else { (counted, 0) };
                counted < then.quota_after(before)
            };
            let what = (millis, before, counted, seconds);
            assert!(has_room(seconds * 1000), "{what:?}");
            assert!(seconds == 1 || !has_room((seconds - 1) * 1000), "{what:?}");
            assert!((1..=600).contains(&seconds), "{what:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_burst_is_no_larger_than_the_quota_wherever_a_window_ends(steps in proptest::collection::vec(0_i64..40_000, 1..400)) {
            let (mut now, mut counts, mut passed) = (0, std::collections::HashMap::<i64, u32>::new(), Vec::new());
            for step in steps {
                now += step;
                let counter = counter_at(now);
                let before = counts.get(&(counter.window - 1)).copied().unwrap_or_default();
                let count = counts.entry(counter.window).or_default();
                if *count < counter.quota_after(before) {
                    *count += 1;
                    passed.push(now);
                }
            }
            for &begin in &passed {
                let in_span = |length: i64| passed.iter().filter(|time| (begin..begin + length).contains(*time)).count();
                proptest::prop_assert!(in_span(60_000) <= 12 && in_span(600_000) <= 21, "after {begin}: {passed:?}");
            }
        }
    }

    #[test]
    fn windows_of_different_subjects_begin_at_different_moments() {
        let end = |name: &str| Counter::new(Rule::Code, Rate::new(1, 600), &Subject::email(name), at(0)).resets_at;
        assert_ne!(end("a"), end("b"));
    }

    #[test]
    fn a_rate_is_two_positive_numbers() {
        assert_eq!("60/600".parse(), Ok(Rate::new(60, 600)));
        assert_eq!(Rate::new(60, 600).to_string(), "60/600");
        for text in ["", "60", "0/600", "60/0", "-1/600", "a/b", "60/600/1"] {
            assert_eq!(text.parse::<Rate>(), Err(InvalidRate), "{text}");
        }
    }

    #[test]
    fn each_rule_has_its_own_place_and_variable() {
        let names: std::collections::BTreeSet<String> = Rule::ALL.into_iter().map(Rule::variable).collect();
        assert_eq!(names.len(), Rule::ALL.len());
        for rule in Rule::ALL {
            assert_eq!(Limits::off().with(rule, Some(Rate::new(7, 8))).rate(rule), Some(Rate::new(7, 8)));
            assert!(rule.name().starts_with(rule.limit().name()), "{}", rule.name());
            assert_eq!(Limits::standard().with(rule, None).rate(rule), None);
        }
    }
}
