//! Simulates a day of normal use by ten thousand users. Three hundred of them share the IP address
//! of an office, and two thousand are in the network of a mobile carrier. With the standard limits,
//! no user is rejected. At the usual rates, no user gets a bot challenge.
//!
//! The counters of an operation are those that its event increments, so the test also covers limits
//! that are added later.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr};

use infra::operations;
use jiff::{SignedDuration, Timestamp};
use model::bot_challenge::rate::{Tally, usual};
use model::bot_challenge::{BotChallenge, GuardedOperation};
use model::limit::{Counter, Limits, Rule, Subject, SubjectKind};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use support::TestApp;

use super::{SIGN_IN, at};
use crate::events::{World, name};

const PEOPLE: u32 = 10_000;
const OFFICE: u32 = 300;
const MOBILE: u32 = 2_000;
/// How many of a hundred visits begin in each hour of the day, starting at midnight.
const HOURS: [u64; 24] = [1, 1, 1, 1, 1, 1, 2, 4, 7, 9, 7, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5, 3, 2, 1];
const MINUTE: u64 = 60;

/// The rules that count a request, each with the kind of subject that it counts.
type Rules = Vec<(Rule, SubjectKind)>;

/// An action of a user, and the second of the day when it happens.
struct Act {
    at: u64,
    person: u32,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    SignUp,
    SignIn,
    WrongPassword,
    /// A sign-in with an emailed code.
    Code,
    /// A sign-in with a provider, from the start until the tokens are issued.
    OAuth,
    /// A new access token for the session.
    Refresh,
    Change,
    /// An invitation to a team.
    Invite,
}

impl What {
    const ALL: [Self; 8] =
        [Self::SignUp, Self::SignIn, Self::WrongPassword, Self::Code, Self::OAuth, Self::Refresh, Self::Change, Self::Invite];

    /// The operations that the action calls.
    fn routes(self) -> &'static [&'static str] {
        match self {
            Self::SignUp => &["auth-password-sign-up"],
            Self::SignIn | Self::WrongPassword => &["auth-password-sign-in"],
            Self::Code => &["auth-otp-send-sign-in-code", "auth-otp-sign-in"],
            Self::OAuth => &["auth-oauth-authorize", "auth-oauth-callback", "auth-oauth-token"],
            Self::Refresh => &["auth-session-refresh"],
            Self::Change => &["users-me-update"],
            Self::Invite => &["teams-invitation-send-code"],
        }
    }

    /// The operation that the action counts as for bot challenges. `None` if it does not count.
    fn guarded(self) -> Option<GuardedOperation> {
        match self {
            Self::SignUp => Some(GuardedOperation::SignUp),
            Self::Code => Some(GuardedOperation::SendSignInCode),
            Self::OAuth => Some(GuardedOperation::OAuth),
            Self::Invite => Some(GuardedOperation::Email),
            Self::SignIn | Self::WrongPassword | Self::Refresh | Self::Change => None,
        }
    }
}

/// A random number generator with a fixed seed.
struct Chance(ChaCha20Rng);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A random second of the day, weighted by how busy each hour is.
    fn second(&mut self) -> u64 {
        let mut left = self.below(HOURS.iter().sum());
        let hour = HOURS.iter().position(|share| left.checked_sub(*share).map(|rest| left = rest).is_none()).unwrap();
        hour as u64 * 60 * MINUTE + self.below(60 * MINUTE)
    }
}

/// The actions of a day when each user visits twice, for about half an hour per visit.
fn day() -> Vec<Act> {
    let mut chance = Chance(ChaCha20Rng::seed_from_u64(1));
    let mut acts = Vec::new();
    for person in 0..PEOPLE {
        for visit in 0..2 {
            let mut at = chance.second();
            let is_new = visit == 0 && chance.is(2);
            let mut act = |seconds: u64, what: What| {
                at += seconds;
                acts.push(Act { at, person, what });
            };
            if is_new {
                act(0, What::SignUp);
            } else if chance.is(10) {
                // The user is not signed in. One in three users signs in with a code, and one in
                // three signs in with a provider. One in five of the remaining users first mistypes
                // the password twice.
                match chance.below(3) {
                    0 => act(0, What::Code),
                    1 => act(0, What::OAuth),
                    _ => {
                        for _ in 0..u64::from(chance.is(20)) * 2 {
                            act(10, What::WrongPassword);
                        }
                        act(10, What::SignIn);
                    }
                }
            }
            if chance.below(1000) == 0 {
                for _ in 0..3 {
                    act(20, What::Invite);
                }
            }
            for _ in 0..3 {
                act(30, What::Refresh);
                for _ in 0..chance.below(8) {
                    act(20, What::Change);
                }
                act(8 * MINUTE, What::Refresh);
            }
        }
    }
    acts.sort_by_key(|act| act.at);
    acts
}

fn address(person: u32) -> IpAddr {
    let [_, a, b, c] = person.to_be_bytes();
    let address = match person {
        ..OFFICE => Ipv4Addr::new(198, 51, 100, 1),
        // The users of the mobile carrier, who share one network.
        _ if person < OFFICE + MOBILE => Ipv4Addr::new(203, 0, 113, c),
        // The remaining users are at home, where two users share an IP address.
        _ => Ipv4Addr::new(11, a, b, c / 2 * 2),
    };
    address.into()
}

/// The counters with the values that they would have in the table.
#[derive(Default)]
struct Counters(HashMap<String, u32>);

impl Counters {
    fn value(&self, name: &str) -> u32 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Counts a request, and returns whether the request is within the quota.
    fn count(&mut self, counter: &Counter) -> bool {
        let room = counter.quota_after(self.value(&counter.before()));
        let counted = self.0.entry(counter.to_string()).or_default();
        *counted += 1;
        *counted <= room
    }
}

/// Whom a rule counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Whom {
    Address,
    Network,
    Project,
    /// The user, who is identified by an account, an email address or a token.
    Person,
}

/// The IP address that the events are sent from.
const HOME: &str = "203.0.113.7";

/// The rules that have counted a request since the recorder was last cleared, each with the counted
/// subject.
fn counted(app: &TestApp) -> BTreeSet<(&'static str, Whom)> {
    let calls = app.recorder.writes();
    let bodies = calls.iter().map(|(_, body)| serde_json::from_str::<Value>(body).unwrap());
    let updates = bodies.flat_map(|body| match body["TransactItems"].as_array() {
        Some(items) => items.iter().map(|item| item["Update"].clone()).collect(),
        None => vec![body],
    });
    let counts = updates.filter(|update| update["UpdateExpression"].as_str().is_some_and(|text| text.contains("ADD n ")));
    let names = counts.filter_map(|update| update["Key"]["pk"]["S"].as_str()?.strip_prefix("L#").map(str::to_owned));
    names.map(|name| read(&name)).collect()
}

/// The rule and the subject in a counter's name: `<project>#<rule>#<subject>#<window>`.
fn read(name: &str) -> (&'static str, Whom) {
    let parts: Vec<&str> = name.split('#').collect();
    let rule = Rule::ALL.into_iter().find(|rule| rule.name() == parts[1]).unwrap();
    let whom = match parts[2] {
        HOME => Whom::Address,
        "203.0.113.0/24" => Whom::Network,
        "project" => Whom::Project,
        _ => Whom::Person,
    };
    (rule.name(), whom)
}

/// The rules that count each action, and the subjects that they count.
async fn rules() -> BTreeMap<What, BTreeSet<(&'static str, Whom)>> {
    let all = operations::all();
    let mut rules = BTreeMap::new();
    for what in What::ALL {
        let of_act: &mut BTreeSet<_> = rules.entry(what).or_default();
        for route in what.routes() {
            let operation = all.iter().find(|operation| operation.route.name == *route).unwrap();
            let world = World::new(Limits::standard()).await;
            world.app.recorder.clear();
            world.send(&name(operation)).await;
            let counted = counted(&world.app);
            let own = operation.route.limit.map_or(&[][..], |limit| limit.early_rules(true));
            // Nobody is signed in yet. A single request does not reach the counters of batched
            // rules in the table.
            let own = own.iter().filter(|(_, by)| *by != SubjectKind::User);
            let (batched, exact): (Rules, Rules) = own.partition(|(rule, _)| rule.is_batched());
            // OAuth operations do not use the access headers, so these operations count their
            // requests separately.
            let is_counted =
                counted.len() + batched.len() > 0 && exact.iter().all(|(rule, _)| counted.iter().any(|(name, _)| *name == rule.name()));
            assert!(is_counted || what == What::OAuth, "{route} is not counted as expected");
            let asks = operation.route.codes().any(|code| code == "BOT_CHALLENGE_REQUIRED");
            assert!(!asks || what.guarded().is_some(), "{route} should not require a bot challenge");
            of_act.extend(counted);
            let whom = |by: SubjectKind| if by == SubjectKind::Network { Whom::Network } else { Whom::Address };
            of_act.extend(batched.into_iter().map(|(rule, by)| (rule.name(), whom(by))));
        }
    }
    rules.get_mut(&What::WrongPassword).unwrap().extend(limits_of_a_wrong_password().await);
    rules
}

async fn limits_of_a_wrong_password() -> BTreeSet<(&'static str, Whom)> {
    let app = TestApp::start_with(Limits::standard()).await;
    app.sign_up("ada@example.com").await;
    app.recorder.clear();
    let wrong = json!({ "email": "ada@example.com", "password": "not correct horse" });
    assert_eq!(at(app.client(), HOME).post(SIGN_IN, wrong).await.code(), "EMAIL_PASSWORD_MISMATCH");
    let counted = counted(&app);
    assert!(counted.contains(&(Rule::SignInFailures.name(), Whom::Person)));
    counted
}

fn subject(whom: Whom, person: u32) -> Subject {
    match whom {
        Whom::Address => Subject::address(address(person)),
        Whom::Network => Subject::network(address(person)),
        Whom::Project => Subject::project(),
        Whom::Person => Subject::email(&format!("person{person}@example.com")),
    }
}

#[tokio::test]
async fn ten_thousand_users_are_neither_limited_nor_challenged() {
    let (limits, midnight) = (Limits::standard(), "2026-06-01T00:00:00Z".parse::<Timestamp>().unwrap());
    let settings = BotChallenge::default();
    let (mut counted, mut refused, mut asked, mut guarded) = (Counters::default(), Vec::new(), Vec::new(), 0);
    let (acts, rules) = (day(), rules().await);
    let rule = |name: &str| Rule::ALL.into_iter().find(|rule| rule.name() == name).unwrap();
    let rules: BTreeMap<What, Vec<(Rule, Whom)>> =
        rules.iter().map(|(what, rules)| (*what, rules.iter().map(|(name, whom)| (rule(name), *whom)).collect())).collect();
    for act in &acts {
        let now = midnight + SignedDuration::from_secs(i64::try_from(act.at).unwrap());
        for (rule, whom) in &rules[&act.what] {
            let counter = limits.counter(*rule, &subject(*whom, act.person), now).unwrap();
            if !counted.count(&counter) {
                refused.push(format!("{} of person {} at {now}", rule.name(), act.person));
            }
        }
        let Some(operation) = act.what.guarded() else { continue };
        guarded += 1;
        for counter in usual(&limits, &settings, Some(operation), address(act.person), now) {
            let tally = Tally { before: counted.value(&counter.before()), counted: counted.value(&counter.to_string()), counter };
            if tally.excess() > 0 {
                asked.push(format!("person {} by {}", act.person, tally.counter));
            }
            counted.count(&tally.counter);
        }
    }
    assert!(acts.len() > 200_000 && guarded > 1_400, "{} and {guarded}: a day has more", acts.len());
    assert_eq!((refused, asked), (Vec::<String>::new(), Vec::new()));
}
