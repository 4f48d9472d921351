//! The code, broken on purpose: conditions of writes are taken away, and a rule has to be broken for each.

use std::collections::{BTreeMap, BTreeSet};

use crate::call::Condition;
use crate::check::broken_rule;
use crate::explored::Break;
use crate::scenarios::ALL;

const RANDOM: &str = "the key is random: nobody else has it, and a transaction that comes again has its token";
const VERSION: &str = "the version of the user, whom the same transaction writes, says the same";
const OTHERS: &str = "its siblings say the same; taken away together they are missed";
const STILL: &str = "time stands still";
const GUESSES: &str = "no client guesses so often that the account closes";
const TEAM: &str = "no client deletes the team, or adds its member in another way";

/// The conditions without which no rule is broken here, and why they are there nevertheless.
const SPARE: &[(&str, &str)] = &[
    ("ConditionCheck U/SESSION: attribute_exists(pk)", OTHERS),
    ("ConditionCheck U/SESSION: d.expires_at > :now", STILL),
    ("ConditionCheck U/SESSION: d.last_used_at > :idle", STILL),
    ("Delete E/CLAIM: attribute_not_exists(pk) OR d.user_id = :user", VERSION),
    ("Delete U/SESSION: attribute_exists(pk)", "it decides what the second of two who end a session is told, and nothing else"),
    ("Put E/CLAIM: attribute_not_exists(pk) OR d.user_id = :user", VERSION),
    ("Put E/CLAIM: d.user_id = :from", OTHERS),
    ("Put M/ENTRY: attribute_not_exists(pk)", RANDOM),
    ("Put R/CLAIM: attribute_not_exists(pk)", RANDOM),
    ("Put T/USER: attribute_not_exists(pk)", TEAM),
    ("Put U/SESSION: attribute_not_exists(pk)", RANDOM),
    ("Put U/TEAM: attribute_not_exists(pk)", TEAM),
    ("Put U/USER: attribute_not_exists(pk)", RANDOM),
    ("Put V/NOT-ME: attribute_not_exists(pk)", RANDOM),
    ("Update C/CODE: attribute_exists(pk)", "no client tries a code that is not there"),
    ("Update T/TEAM: attribute_exists(pk)", TEAM),
    ("Update T/TEAM: attribute_exists(pk) AND attribute_not_exists(deleting)", TEAM),
    ("Update T/TEAM: attribute_not_exists(deleting)", TEAM),
    ("Update U/SESSION: attribute_exists(pk)", OTHERS),
    ("Update U/SESSION: d.expires_at > :now", STILL),
    ("Update U/SESSION: d.last_used_at > :idle", STILL),
    ("Update U/USER: (attribute_not_exists(d.wrong_passwords) OR d.wrong_passwords < :most)", GUESSES),
    ("Update U/USER: attribute_exists(pk) AND (attribute_not_exists(d.wrong_passwords) OR d.wrong_passwords < :most)", GUESSES),
    ("Update U/USER: d.session_epoch = :epoch", "whatever raises the epoch of sessions raises that of credentials"),
    ("Update U/USER: d.totp.secret = :secret", "no client changes the authenticator app"),
    ("Update V/RELEASE: d.used = :no", "the address that the link releases is gone after its first use"),
];

fn is_spare(condition: &Condition) -> bool {
    SPARE.iter().any(|(spare, _)| *spare == condition.0)
}

/// In which scenario a condition is missed, and by which rule.
type Missed = Option<(&'static str, &'static str)>;

/// Takes away, one by one, the conditions of all scenarios that are asked for.
fn missed(is_asked: impl Fn(&Condition) -> bool) -> BTreeMap<Condition, Missed> {
    let mut missed: BTreeMap<Condition, Missed> = BTreeMap::new();
    for scene in ALL.iter() {
        let scenario = scene.checked();
        let conditions = scenario.conditions.lock().unwrap().clone();
        for condition in conditions.into_iter().filter(&is_asked) {
            let known = missed.entry(condition.clone()).or_default();
            if known.is_none() {
                *known = broken_rule(scenario, Break::Dropped(condition)).map(|rule| (scenario.name, rule));
            }
        }
    }
    missed
}

#[test]
fn without_a_condition_a_rule_is_broken() {
    let missed = missed(|condition| !is_spare(condition));
    let idle: Vec<_> = missed.iter().filter(|(_, missed)| missed.is_none()).map(|(condition, _)| &condition.0).collect();
    for (condition, (scenario, rule)) in missed.iter().filter_map(|(condition, missed)| Some((&condition.0, (*missed)?))) {
        println!("without {condition}\n    {scenario}: it is not so that {rule}");
    }
    assert!(idle.is_empty(), "nothing is broken without {idle:#?}");
}

#[test]
fn a_spare_condition_is_one_of_the_code() {
    let all: BTreeSet<Condition> = ALL.iter().flat_map(|scene| scene.checked().conditions.lock().unwrap().clone()).collect();
    let gone: Vec<_> = SPARE.iter().filter(|(spare, _)| !all.iter().any(|condition| condition.0 == *spare)).collect();
    assert!(gone.is_empty(), "{gone:#?}");
}

#[test]
#[ignore = "it takes a minute, as it explores every scenario to its end for each"]
fn without_a_spare_condition_no_rule_is_broken() {
    let needed: Vec<_> = missed(is_spare).into_iter().filter(|(_, missed)| missed.is_some()).collect();
    assert!(needed.is_empty(), "{needed:#?}");
}

#[test]
fn without_what_recognises_a_retry_or_ends_an_epoch_a_rule_is_broken() {
    for broken in [Break::ForgottenTokens, Break::NoMarks, Break::Stays("credential_epoch"), Break::Stays("session_epoch")] {
        let found = ALL.iter().find_map(|scene| {
            let scenario = scene.checked();
            broken_rule(scenario, broken.clone()).map(|rule| (scenario.name, rule))
        });
        println!("{broken:?}: {found:?}");
        assert!(found.is_some(), "{broken:?} breaks nothing");
    }
}
