//! What operations do to the table in a run of the tests, for the comparison with their roles.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::Write as _;
use std::sync::{LazyLock, Mutex};

use http::Method;
use infra::operations;
use serde_json::Value;
use shared::http::{Route, Verb};

/// The file that a run writes down in what its operations do, a line each: the operation and an IAM action.
pub const FILE: &str = "GATELET_TEST_RECORD_ACTIONS";

static ROUTES: LazyLock<Vec<Route>> = LazyLock::new(|| operations::all().into_iter().map(|operation| operation.route).collect());
static RECORD: LazyLock<Option<Mutex<Record>>> = LazyLock::new(|| {
    let path = std::env::var_os(FILE)?;
    let file = OpenOptions::new().append(true).create(true).open(path).unwrap();
    Some(Mutex::new(Record { file, known: BTreeSet::new() }))
});

struct Record {
    file: File,
    known: BTreeSet<(&'static str, String)>,
}

tokio::task_local! {
    static OPERATION: Option<&'static str>;
}

/// Answers a request as the operation that it is for.
pub(crate) async fn within<F: Future>(method: &Method, path: &str, answer: F) -> F::Output {
    let verb = if method == Method::HEAD { "GET" } else { method.as_str() };
    let path = path.replacen("/api/latest/", "/api/v1/", 1);
    let is_it = |route: &&Route| Verb::name(route.verb) == verb && route.matches(&path);
    let route = RECORD.as_ref().and_then(|_| ROUTES.iter().find(is_it));
    OPERATION.scope(route.map(|route| route.name), answer).await
}

/// Writes a call down, if this is a run that does and the call is an operation's.
pub(crate) fn note(call: &str, body: &str) {
    let (Some(record), Ok(Some(operation))) = (RECORD.as_ref(), OPERATION.try_with(|operation| *operation)) else { return };
    let mut record = record.lock().unwrap();
    for action in actions(call, body) {
        if record.known.insert((operation, action.clone())) {
            writeln!(record.file, "{operation} {action}").unwrap();
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
