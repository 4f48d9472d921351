//! What an operation does to the table is what its role may do: on AWS everything else would be refused.

use std::collections::BTreeSet;

use infra::operations;
use serde_json::Value;
use shared::model::limit::Limits;

use crate::events::{World, name};

/// The IAM actions of one call.
fn actions(operation: &str, body: &str) -> BTreeSet<String> {
    if operation != "TransactWriteItems" {
        return BTreeSet::from([operation.to_owned()]);
    }
    let body: Value = serde_json::from_str(body).unwrap();
    let items = body["TransactItems"].as_array().unwrap().iter().flat_map(|item| item.as_object().unwrap().keys());
    items.map(|kind| if kind == "ConditionCheck" { "ConditionCheckItem".to_owned() } else { format!("{kind}Item") }).collect()
}

#[tokio::test]
async fn an_operation_does_what_its_role_may_and_no_more() {
    for operation in operations::all() {
        let world = World::new(Limits::standard()).await;
        world.app.recorder.clear();
        world.send(&name(&operation)).await;
        let done: BTreeSet<String> = world.app.recorder.calls().iter().flat_map(|(call, body)| actions(call, body)).collect();
        let may: BTreeSet<String> = operation.route.actions().iter().map(|action| format!("{action:?}")).collect();
        assert!(done.is_subset(&may), "{} does {done:?} and may {may:?}", operation.route.name);
    }
}
