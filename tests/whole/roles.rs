//! What an operation's role may do is done in some test: what is never done is only good for whoever breaks in.

use std::collections::{BTreeMap, BTreeSet};

use infra::operations;

use crate::WHOLE_RUN;

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
