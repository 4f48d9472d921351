//! A day of normal use: ten thousand people, of whom three hundred share the address of an office and two thousand the network of a mobile
//! carrier. By the standard limits nobody is refused, and by the usual rates nobody is asked for a bot challenge.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};

use jiff::{SignedDuration, Timestamp};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};
use shared::model::bot_challenge::BotChallenge;
use shared::model::bot_challenge_rate::{Tally, usual};
use shared::model::limit::{Counter, Limits, Rule, Subject};

const PEOPLE: u32 = 10_000;
const OFFICE: u32 = 300;
const MOBILE: u32 = 2_000;
/// Of a hundred visits those in an hour of the day, from midnight on.
const HOURS: [u64; 24] = [1, 1, 1, 1, 1, 1, 2, 4, 7, 9, 7, 6, 6, 6, 6, 6, 6, 6, 6, 6, 5, 3, 2, 1];
const MINUTE: u64 = 60;

/// What somebody does: at which second of the day, and what.
struct Act {
    at: u64,
    person: u32,
    what: What,
}

#[derive(Clone, Copy)]
enum What {
    SignUp,
    SignIn,
    WrongPassword,
    /// A code by email, and its use.
    Code,
    /// An access token for the next ten minutes.
    Refresh,
    Change,
}

/// Chance, the same in every run.
struct Chance(ChaCha20Rng);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    fn is(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// A second of the day, more often one of a busy hour.
    fn second(&mut self) -> u64 {
        let mut left = self.below(HOURS.iter().sum());
        let hour = HOURS.iter().position(|share| left.checked_sub(*share).map(|rest| left = rest).is_none()).unwrap();
        hour as u64 * 60 * MINUTE + self.below(60 * MINUTE)
    }
}

/// Two visits of each, of half an hour.
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
                // Signed out: a third takes a code, and one in five mistypes the password first.
                let by_code = chance.is(33);
                if by_code {
                    act(0, What::Code);
                } else {
                    for _ in 0..u64::from(chance.is(20)) * 2 {
                        act(10, What::WrongPassword);
                    }
                    act(10, What::SignIn);
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
        // Of the addresses of one network.
        _ if person < OFFICE + MOBILE => Ipv4Addr::new(203, 0, 113, c),
        // Two at home.
        _ => Ipv4Addr::new(11, a, b, c / 2 * 2),
    };
    address.into()
}

/// What has been counted, as the table would have it.
#[derive(Default)]
struct Counted(HashMap<String, u32>);

impl Counted {
    fn of(&self, name: &str) -> u32 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Counts one, and says whether there was room for it.
    fn count(&mut self, counter: &Counter) -> bool {
        let room = counter.quota_after(self.of(&counter.before()));
        let counted = self.0.entry(counter.to_string()).or_default();
        *counted += 1;
        *counted <= room
    }
}

/// What an act is counted by, and whether bot challenges look at it.
fn rules(act: &Act) -> (Vec<(Rule, Subject)>, bool) {
    let ip = address(act.person);
    let (address, network) = (Subject::address(ip), Subject::network(ip));
    let person = Subject::email(&format!("person{}@example.com", act.person));
    match act.what {
        What::SignUp => (vec![(Rule::SignUp, address), (Rule::SignUpNetwork, network), (Rule::SendCodeRecipient, person)], true),
        What::SignIn => (vec![(Rule::SignIn, address)], false),
        What::WrongPassword => (vec![(Rule::SignIn, address), (Rule::SignInFailures, person)], false),
        What::Code => (
            vec![
                (Rule::SendCode, address.clone()),
                (Rule::SendCodeNetwork, network),
                (Rule::SendCodeRecipient, person),
                (Rule::Code, address),
            ],
            true,
        ),
        What::Refresh => (vec![(Rule::Token, person)], false),
        What::Change => (vec![(Rule::Write, person)], false),
    }
}

#[test]
fn ten_thousand_people_are_neither_refused_nor_asked_for_a_challenge() {
    let (limits, midnight) = (Limits::standard(), "2026-06-01T00:00:00Z".parse::<Timestamp>().unwrap());
    // As its documentation has it: about twice the busiest hour.
    let settings = BotChallenge { usual_requests_per_hour: 200, ..BotChallenge::default() };
    let (mut counted, mut refused, mut asked, mut guarded) = (Counted::default(), Vec::new(), Vec::new(), 0);
    let acts = day();
    for act in &acts {
        let now = midnight + SignedDuration::from_secs(i64::try_from(act.at).unwrap());
        let (rules, is_guarded) = rules(act);
        for (rule, subject) in rules {
            let counter = limits.counter(rule, &subject, now).unwrap();
            if !counted.count(&counter) {
                refused.push(format!("{} of person {} at {now}", rule.name(), act.person));
            }
        }
        for counter in usual(&limits, &settings, address(act.person), now).into_iter().filter(|_| is_guarded) {
            let tally = Tally { before: counted.of(&counter.before()), counted: counted.of(&counter.to_string()), counter };
            if tally.excess() > 0 {
                asked.push(format!("person {} by {}", act.person, tally.counter));
            }
            counted.count(&tally.counter);
            guarded += 1;
        }
    }
    assert!(acts.len() > 200_000 && guarded > 1_500, "{} and {guarded}: a day has more", acts.len());
    assert_eq!((refused, asked), (Vec::<String>::new(), Vec::new()));
}
