//! What an operation does to the table is what its role may do: on AWS everything else would be refused, and what is never done is only good
//! for whoever breaks in.

use std::collections::{BTreeMap, BTreeSet};

use infra::operations;
use serde_json::Value;
use shared::model::limit::Limits;
use shared::store::content;
use support::roles;

use crate::events::{World, name};
use crate::whole_run::WHOLE_RUN;

#[tokio::test]
async fn an_operation_does_what_its_role_may_and_no_more() {
    for operation in operations::all() {
        let world = World::new(Limits::standard()).await;
        world.app.recorder.clear();
        world.send(&name(&operation)).await;
        let done: BTreeSet<String> = world.app.recorder.calls().iter().flat_map(|(call, body)| roles::actions(call, body)).collect();
        let may: BTreeSet<String> = operation.route.actions().iter().map(|action| format!("{action:?}")).collect();
        assert!(done.is_subset(&may), "{} does {done:?} and may {may:?}", operation.route.name);
    }
}

/// The partitions that a call is about: those of the keys of its items, or of what it queries.
fn partitions(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(fields) => {
            let own = ["pk", ":pk"].iter().filter_map(|name| fields.get(*name)?["S"].as_str());
            own.chain(fields.values().flat_map(partitions)).collect()
        }
        Value::Array(items) => items.iter().flat_map(partitions).collect(),
        _ => Vec::new(),
    }
}

fn matches(pattern: &str, partition: &str) -> bool {
    pattern.strip_suffix('*').map_or(partition == pattern, |prefix| partition.starts_with(prefix))
}

/// The condition of its role on `dynamodb:LeadingKeys`, which no emulator looks at.
#[tokio::test]
async fn an_operation_uses_the_partitions_that_its_role_may() {
    for operation in operations::all() {
        let (name_of, allowed) = (operation.route.name, operation.route.partitions);
        let world = World::new(Limits::standard()).await;
        world.app.recorder.clear();
        world.send(&name(&operation)).await;
        let calls: Vec<Value> = world.app.recorder.calls().iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect();
        let used: BTreeSet<&str> = calls.iter().flat_map(partitions).collect();
        if allowed.is_empty() {
            assert!(!used.contains(content::PARTITION), "{name_of} uses {used:?}");
        } else {
            assert!(!used.is_empty(), "{name_of} uses no partition");
            assert!(used.iter().all(|used| allowed.iter().any(|pattern| matches(pattern, used))), "{name_of} uses {used:?}");
            assert!(calls.iter().all(|call| call["IndexName"].is_null()), "{name_of} reads an index");
        }
    }
}

/// Operations that are another's under one more path, which is the one that is tested most.
const SAME: &[(&str, &str)] = &[
    ("auth-oauth-callback-form", "auth-oauth-callback"),
    ("auth-connected-account-token-of", "auth-connected-account-token"),
    ("users-me-delete", "users-user-delete"),
];

/// In a run of all the other tests. What is counted may read an item beside it: where an answer of the table was lost, or a race was, which is too rare to wait for.
#[test]
fn a_role_has_nothing_to_spare() {
    let mut done: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (operation, action) in WHOLE_RUN.actions.lines().map(|line| line.split_once(' ').unwrap()) {
        done.entry(operation).or_default().insert(action);
    }
    let mut differ = Vec::new();
    for operation in operations::all() {
        let route = &operation.route;
        let may: BTreeSet<String> = route.actions().iter().map(|action| format!("{action:?}")).collect();
        let others = SAME.iter().find(|(name, _)| *name == route.name).and_then(|(_, other)| done.get(other));
        let all = done.get(route.name).into_iter().chain(others).flatten();
        let mut done: BTreeSet<String> = all.map(|action| (*action).to_owned()).collect();
        if route.limit.is_some() {
            done.insert("GetItem".to_owned());
        }
        let (spare, missing): (Vec<_>, Vec<_>) = (may.difference(&done).collect(), done.difference(&may).collect());
        if !spare.is_empty() || !missing.is_empty() {
            differ.push(format!("{}: spare {spare:?}, missing {missing:?}", operation.route.name));
        }
    }
    assert!(differ.is_empty(), "roles differ from what is done:\n{}", differ.join("\n"));
}
