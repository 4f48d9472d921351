//! Records the IAM actions that each operation uses on the table, so that they can be compared with
//! the operation's role.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::record;

tokio::task_local! {
    static OPERATION: Option<&'static str>;
}

/// Handles a request in the context of its operation, if any. Calls to the table are then recorded
/// as calls of the operation.
pub(crate) fn within<F: Future>(operation: Option<&'static str>, answer: F) -> impl Future<Output = F::Output> {
    OPERATION.scope(operation, Box::pin(answer))
}

/// Records a call to the table if the run is recorded and an operation made the call.
pub(crate) fn note(call: &str, body: &str) {
    if let (true, Ok(Some(operation))) = (record::is_on(), OPERATION.try_with(|operation| *operation)) {
        for action in actions(call, body) {
            record::action(operation, &action);
        }
    }
}

/// A transaction. Only the kinds of the transaction's writes are parsed.
#[derive(Deserialize)]
#[expect(clippy::zero_sized_map_values, reason = "serde reads an object into a map, and its values are not needed")]
struct Transaction<'a> {
    #[serde(rename = "TransactItems", borrow)]
    items: Vec<BTreeMap<&'a str, IgnoredAny>>,
}

/// The IAM actions that a call requires.
#[expect(clippy::zero_sized_map_values, reason = "serde reads an object into a map, and its values are not needed")]
pub fn actions(call: &str, body: &str) -> BTreeSet<String> {
    if call != "TransactWriteItems" {
        return BTreeSet::from([call.to_owned()]);
    }
    let Transaction { items } = serde_json::from_str(body).unwrap();
    let kinds = items.iter().flat_map(BTreeMap::keys);
    kinds.map(|kind| if *kind == "ConditionCheck" { "ConditionCheckItem".to_owned() } else { format!("{kind}Item") }).collect()
}
