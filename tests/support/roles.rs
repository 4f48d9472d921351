//! What operations do to the table in a run of the tests, for the comparison with their roles.

use std::collections::BTreeSet;
use std::future::Future;

use serde_json::Value;

use crate::record;

tokio::task_local! {
    static OPERATION: Option<&'static str>;
}

/// Answers a request as the operation that it is for.
pub(crate) async fn within<F: Future>(operation: Option<&'static str>, answer: F) -> F::Output {
    OPERATION.scope(operation, answer).await
}

/// Writes a call down, if this is a run that does and the call is an operation's.
pub(crate) fn note(call: &str, body: &str) {
    if let (true, Ok(Some(operation))) = (record::is_on(), OPERATION.try_with(|operation| *operation)) {
        for action in actions(call, body) {
            record::action(operation, &action);
        }
    }
}

/// The IAM actions of one call.
pub fn actions(call: &str, body: &str) -> BTreeSet<String> {
    if call != "TransactWriteItems" {
        return BTreeSet::from([call.to_owned()]);
    }
    let body: Value = serde_json::from_str(body).unwrap();
    let items = body["TransactItems"].as_array().unwrap().iter().flat_map(|item| item.as_object().unwrap().keys());
    items.map(|kind| if kind == "ConditionCheck" { "ConditionCheckItem".to_owned() } else { format!("{kind}Item") }).collect()
}
