//! The code, broken on purpose: each condition of a write is taken away, and a rule has to be broken for it.

use std::collections::BTreeMap;

use crate::call::Condition;
use crate::check::broken_rule;
use crate::explored::Break;
use crate::scenarios::ALL;

/// The conditions without which no rule is broken, and why they are there nevertheless.
const SPARE: &[(&str, &str)] = &[];

#[test]
fn without_any_condition_a_rule_is_broken() {
    let mut outcomes: BTreeMap<Condition, Option<(&str, &str)>> = BTreeMap::new();
    for scene in ALL.iter() {
        let scenario = scene.checked();
        let conditions = scenario.conditions.lock().unwrap().clone();
        for condition in conditions {
            if SPARE.iter().any(|(spare, _)| *spare == condition.0) || outcomes.get(&condition).is_some_and(Option::is_some) {
                continue;
            }
            let rule = broken_rule(scenario, Break::Dropped(condition.clone()));
            eprintln!("{} | {} | {rule:?}", condition.0, scenario.name);
            outcomes.insert(condition, rule.map(|rule| (scenario.name, rule)));
        }
    }
    let mut missed = Vec::new();
    for (condition, outcome) in &outcomes {
        match outcome {
            Some((scenario, rule)) => println!("{}\n    {scenario}: {rule}", condition.0),
            None => missed.push(&condition.0),
        }
    }
    assert!(missed.is_empty(), "nothing is broken without {missed:#?}");
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
