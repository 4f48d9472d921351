//! Breaks the code on purpose. Conditions of writes are removed one by one, and each removal must
//! break a rule, unless the condition is in [`SPARE`].

use std::collections::{BTreeMap, BTreeSet};

use crate::call::Condition;
use crate::check::broken_rule;
use crate::explored::Break;
use crate::scenarios::ALL;

const RANDOM: &str = "the key is random, hence unique, and a repeated transaction is recognised by its token";
const VERSION: &str = "the condition on the user's version, in the same transaction, implies it";
const HOLDER: &str = "the condition on the version of the address's holder, in the same transaction, implies it";
const OTHERS: &str = "the other conditions of this write imply it; removing all of them breaks a rule";
const STILL: &str = "time stands still";
const GUESSES: &str = "no client guesses often enough to lock the account";
const TEAM: &str = "no client deletes the team, or adds its member in another way";

/// Conditions that can be removed without breaking a rule of this model, each with the reason.
const SPARE: &[(&str, &str)] = &[
    ("ConditionCheck U/SESSION: attribute_exists(pk)", OTHERS),
    ("ConditionCheck U/SESSION: d.expires_at > :now", STILL),
    ("ConditionCheck U/SESSION: d.last_used_at > :idle", STILL),
    ("Delete E/CLAIM: attribute_not_exists(pk) OR d.user_id = :user", VERSION),
    ("Delete U/GRANT: attribute_exists(pk)", "if two clients end a grant, it only decides the response to the second"),
    ("Delete U/SESSION: attribute_exists(pk)", "if two clients end a session, it only decides the response to the second"),
    ("Put A/CLIENT: attribute_not_exists(pk)", RANDOM),
    ("Put E/CLAIM: attribute_not_exists(pk) OR d.user_id = :user", VERSION),
    ("Put E/CLAIM: d.is_verified = :no", HOLDER),
    ("Put E/CLAIM: d.user_id = :from", HOLDER),
    ("Put E/CLAIM: d.user_id = :from AND d.is_verified = :no", HOLDER),
    ("Put M/ENTRY: attribute_not_exists(pk)", RANDOM),
    ("Put T/USER: attribute_not_exists(pk)", TEAM),
    ("Put U/SESSION: attribute_not_exists(pk)", RANDOM),
    ("Put U/TEAM: attribute_not_exists(pk)", TEAM),
    ("Put U/USER: attribute_not_exists(pk)", RANDOM),
    ("Put V/NOT-ME: attribute_not_exists(pk)", RANDOM),
    ("Update A/CLIENT: attribute_exists(pk)", "no client tries an unknown code"),
    ("Update C/CODE: attribute_exists(pk)", "no client tries an unknown code"),
    ("Update T/TEAM: attribute_exists(pk)", TEAM),
    ("Update T/TEAM: attribute_exists(pk) AND attribute_not_exists(deleting)", TEAM),
    ("Update T/TEAM: attribute_not_exists(deleting)", TEAM),
    ("Update U/SESSION: d.expires_at > :now", STILL),
    ("Update U/SESSION: d.last_used_at > :idle", STILL),
    ("Update U/USER: (attribute_not_exists(d.wrong_passwords) OR d.wrong_passwords < :most)", GUESSES),
    ("Update U/USER: (attribute_not_exists(d.wrong_passwords) OR d.wrong_passwords <> :last)", GUESSES),
    ("Update U/USER: attribute_exists(pk) AND (attribute_not_exists(d.wrong_passwords) OR d.wrong_passwords <> :last)", GUESSES),
    ("Update U/USER: attribute_exists(pk) AND (attribute_not_exists(d.wrong_passwords) OR d.wrong_passwords < :most)", GUESSES),
    (
        "Update U/USER: (d.session_epoch = :epoch OR d.kept_session = :session OR attribute_not_exists(d.session_epoch))",
        "it only decides whether the use of an ended session counts as activity of the user",
    ),
    ("Update U/USER: attribute_exists(founded)", "no client deletes an account while its owner changes"),
    ("Update U/USER: version = :seen", "no client joins teams up to the maximum"),
    ("Update U/USER: d.session_epoch = :epoch", "every write that raises the session epoch also raises the credential epoch"),
    ("Update U/USER: d.totp.secret = :secret", "no client changes the authenticator app"),
    ("Update V/RELEASE: d.used = :no", "the link's address is already released after its first use"),
];

fn is_spare(condition: &Condition) -> bool {
    SPARE.iter().any(|(spare, _)| *spare == condition.0)
}

/// The scenario that needs a condition, and the rule that breaks without the condition; `None` if
/// no scenario needs it.
type Counterexample = Option<(&'static str, &'static str)>;

/// Removes the conditions that `is_asked` selects one by one. Returns the first scenario and rule
/// that each removal breaks.
fn missed(is_asked: impl Fn(&Condition) -> bool) -> BTreeMap<Condition, Counterexample> {
    let mut missed: BTreeMap<Condition, Counterexample> = BTreeMap::new();
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
fn removing_a_condition_breaks_a_rule() {
    let missed = missed(|condition| !is_spare(condition));
    let idle: Vec<_> = missed.iter().filter(|(_, missed)| missed.is_none()).map(|(condition, _)| &condition.0).collect();
    for (condition, (scenario, rule)) in missed.iter().filter_map(|(condition, missed)| Some((&condition.0, (*missed)?))) {
        println!("without {condition}\n    {scenario}: violated: {rule}");
    }
    assert!(idle.is_empty(), "removing these breaks no rule: {idle:#?}");
}

#[test]
fn every_condition_of_the_list_exists_in_the_code() {
    let all: BTreeSet<Condition> = ALL.iter().flat_map(|scene| scene.checked().conditions.lock().unwrap().clone()).collect();
    let gone: Vec<_> = SPARE.iter().filter(|(spare, _)| !all.iter().any(|condition| condition.0 == *spare)).collect();
    assert!(gone.is_empty(), "{gone:#?}");
}

#[test]
#[ignore = "takes a minute, as it explores every scenario exhaustively for each condition"]
fn removing_a_condition_of_the_list_breaks_no_rule() {
    let needed: Vec<_> = missed(is_spare).into_iter().filter(|(_, missed)| missed.is_some()).collect();
    assert!(needed.is_empty(), "{needed:#?}");
}

#[test]
fn removing_retry_detection_or_epochs_breaks_a_rule() {
    for broken in [Break::ForgottenTokens, Break::NoMarks, Break::Stays("credential_epoch"), Break::Stays("session_epoch")] {
        let found = ALL.iter().find_map(|scene| {
            let scenario = scene.checked();
            broken_rule(scenario, broken.clone()).map(|rule| (scenario.name, rule))
        });
        println!("{broken:?}: {found:?}");
        assert!(found.is_some(), "{broken:?} breaks nothing");
    }
}
