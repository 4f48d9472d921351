//! Every permission of an operation's role is used in a test, because unused permissions would only
//! help an attacker.

use std::collections::{BTreeMap, BTreeSet};

use infra::{operations, workers};
use model::limit::Limit;

use crate::WHOLE_RUN;

/// Operations that are aliases of another operation, which has most of the tests.
const SAME: &[(&str, &str)] = &[
    ("auth-oauth-callback-form", "auth-oauth-callback"),
    ("auth-oauth-client-token", "auth-oauth-token"),
    ("auth-connected-account-token-of", "auth-connected-account-token"),
    ("auth-connected-account-token-own", "auth-connected-account-token"),
    ("users-me-delete", "users-user-delete"),
];

/// Compares the permissions of operations with the record of the API tests. Operations with a limit
/// need `GetItem` after a lost response or a lost race, which do not occur in every run.
#[test]
fn roles_have_no_unused_permissions() {
    let mut done: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (operation, action) in WHOLE_RUN.actions.lines().map(|line| line.split_once(' ').unwrap()) {
        done.entry(operation).or_default().insert(action);
    }
    let mut differ = Vec::new();
    for operation in operations::all() {
        let route = &operation.route;
        let may: BTreeSet<String> = route.actions().iter().map(|action| format!("{action:?}")).collect();
        let others = SAME.iter().find(|(name, _)| *name == route.name).and_then(|(_, other)| done.get(other));
        // A page may do whatever the operations that it calls may do.
        let calls = route.calls.iter().filter_map(|call| done.get(call.name));
        let all = done.get(route.name).into_iter().chain(others).chain(calls).flatten();
        let mut done: BTreeSet<String> = all.map(|action| (*action).to_owned()).collect();
        if route.limit.is_some_and(Limit::is_in_table) {
            done.insert("GetItem".to_owned());
        }
        let (spare, missing): (Vec<_>, Vec<_>) = (may.difference(&done).collect(), done.difference(&may).collect());
        if !spare.is_empty() || !missing.is_empty() {
            differ.push(format!("{}: spare {spare:?}, missing {missing:?}", operation.route.name));
        }
    }
    assert!(differ.is_empty(), "roles differ from the recorded actions:\n{}", differ.join("\n"));
}

/// Compares the permissions of workers with the record, which lacks the calls that a worker makes
/// in separate tasks. Tests of the worker for SES's reports invoke the worker's function.
#[test]
fn workers_may_do_what_they_do() {
    for worker in workers::ALL.iter().filter(|worker| !worker.table.is_empty() && worker.name != workers::MAIL_REPORTS.name) {
        let may: BTreeSet<String> = worker.table.iter().map(|action| format!("{action:?}")).collect();
        let lines = WHOLE_RUN.actions.lines().map(|line| line.split_once(' ').unwrap());
        let done: BTreeSet<String> = lines.filter(|(name, _)| *name == worker.name).map(|(_, action)| action.to_owned()).collect();
        assert!(!done.is_empty(), "{} was not recorded", worker.name);
        assert!(done.is_subset(&may), "{} lacks {:?}", worker.name, done.difference(&may));
    }
}
