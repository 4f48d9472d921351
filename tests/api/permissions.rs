//! Operations use the table only as their roles permit. AWS would refuse any other use.

use std::collections::BTreeSet;

use infra::operations;
use serde_json::Value;
use store::content;
use support::roles;

use crate::events::sent;

#[tokio::test]
async fn an_operation_only_uses_the_actions_of_its_role() {
    let sent = sent::SentEvents::get().await;
    for operation in operations::all() {
        let done: BTreeSet<String> = sent.event(&operation).calls.iter().flat_map(|(call, body)| roles::actions(call, body)).collect();
        let may: BTreeSet<String> = operation.route.actions().iter().map(|action| format!("{action:?}")).collect();
        assert!(done.is_subset(&may), "{} does {done:?} and may {may:?}", operation.route.name);
    }
}

/// The partitions that a call uses, according to the keys of its items or its query.
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

/// Checks the roles' condition on `dynamodb:LeadingKeys`, which the embedded engine does not
/// enforce.
#[tokio::test]
async fn an_operation_only_uses_the_partitions_of_its_role() {
    let sent = sent::SentEvents::get().await;
    for operation in operations::all() {
        let (name_of, allowed) = (operation.route.name, operation.route.table.partitions);
        let calls: Vec<Value> = sent.event(&operation).calls.iter().map(|(_, body)| serde_json::from_str(body).unwrap()).collect();
        let used: BTreeSet<&str> = calls.iter().flat_map(partitions).collect();
        if allowed.is_empty() {
            assert!(!used.contains(content::PARTITION), "{name_of} uses {used:?}");
        } else {
            assert_eq!(used.is_empty(), operation.route.table.actions.is_empty(), "{name_of} uses {used:?}");
            assert!(used.iter().all(|used| allowed.iter().any(|pattern| matches(pattern, used))), "{name_of} uses {used:?}");
            assert!(calls.iter().all(|call| call["IndexName"].is_null()), "{name_of} reads an index");
        }
    }
}
