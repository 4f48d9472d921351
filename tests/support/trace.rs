//! The calls that a request makes to the table, with the items that they read and write.

use dynoxide::Database;
use dynoxide::types::Item;
use gateway::engine::TABLE;
use serde_json::{Value, json};

/// The partition key and the sort key of an item.
pub type Key = (String, String);

/// A call that the engine has responded to.
#[derive(Debug)]
pub struct TracedCall {
    /// The DynamoDB operation.
    pub operation: String,
    pub body: Value,
    /// The read or write units that the call consumed in the table and its indexes.
    pub units: f64,
    /// The items that the call named, in their state after the call. `None` for an item that does
    /// not exist.
    pub items: Vec<(Key, Option<Item>)>,
}

/// The calls that a service makes to the table.
pub(crate) struct Trace {
    database: Database,
    calls: Vec<TracedCall>,
}

fn key_of(key: &Value) -> Key {
    let text = |name: &str| key[name]["S"].as_str().unwrap().to_owned();
    (text("pk"), text("sk"))
}

/// The keys that a call names. Empty for a query.
fn keys(operation: &str, body: &Value) -> Vec<Key> {
    let written = |write: &Value| key_of(if write["Item"].is_object() { &write["Item"] } else { &write["Key"] });
    match operation {
        "GetItem" | "PutItem" | "UpdateItem" | "DeleteItem" => vec![written(body)],
        "BatchGetItem" => body["RequestItems"][TABLE]["Keys"].as_array().unwrap().iter().map(key_of).collect(),
        "TransactWriteItems" => {
            let writes = body["TransactItems"].as_array().unwrap().iter();
            writes.flat_map(|write| write.as_object().unwrap().values()).map(written).collect()
        }
        "Query" => Vec::new(),
        _ => panic!("no rule for {operation}"),
    }
}

impl Trace {
    pub(crate) fn new(database: Database) -> Self {
        Self { database, calls: Vec::new() }
    }

    pub(crate) fn add(&mut self, operation: &str, body: Value, units: f64) {
        let item = |(pk, sk): Key| {
            let get = json!({ "TableName": TABLE, "Key": { "pk": { "S": pk }, "sk": { "S": sk } }, "ConsistentRead": true });
            let item = self.database.get_item(serde_json::from_value(get).unwrap()).unwrap().item;
            ((pk, sk), item)
        };
        let items = keys(operation, &body).into_iter().map(item).collect();
        self.calls.push(TracedCall { operation: operation.to_owned(), body, units, items });
    }

    pub(crate) fn take(&mut self) -> Vec<TracedCall> {
        std::mem::take(&mut self.calls)
    }
}
