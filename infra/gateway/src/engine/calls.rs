//! Determines which items a call may write, from its name and body.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use memchr::memmem;
use serde::Deserialize;
use store::Key as ItemKey;
use store::trail::chain;
use wire::id::ProjectId;

/// The items that a call may write.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum WrittenItems {
    Items(Vec<ItemKey>),
    /// Any item, because the call is not a known write or its body is malformed.
    Any,
}

pub(super) fn reads(operation: &str) -> bool {
    matches!(
        operation,
        "GetItem" | "BatchGetItem" | "TransactGetItems" | "Query" | "Scan" | "DescribeTable" | "DescribeTimeToLive" | "ListTables"
    )
}

/// Whether a call may write to a partition of the outbox, judging by the keys in its body.
pub(super) fn touches_outbox(operation: &str, body: &[u8]) -> bool {
    !reads(operation) && memmem::find(body, b"\"M#").is_some()
}

/// The projects whose audit trails a call may write to, judging by the keys in its body.
pub(super) fn trails_of(operation: &str, body: &[u8]) -> BTreeSet<ProjectId> {
    if reads(operation) || memmem::find(body, b"\"P#").is_none() {
        return BTreeSet::new();
    }
    let text = String::from_utf8_lossy(body);
    text.split('"').filter(|text| text.starts_with("P#")).filter_map(chain::project_of).collect()
}

/// The items that a call may write, judging by the keys in its body.
pub(super) fn written(operation: &str, body: &[u8]) -> WrittenItems {
    let keys = match operation {
        _ if reads(operation) => Some(Vec::new()),
        "PutItem" | "UpdateItem" | "DeleteItem" => parsed::<Change>(body).and_then(|change| Some(vec![change.key()?])),
        "TransactWriteItems" => {
            parsed::<Transaction>(body).and_then(|all| all.changes.iter().flat_map(HashMap::values).map(Change::key).collect())
        }
        "BatchWriteItem" => parsed::<Batch>(body).and_then(|batch| {
            let changes = batch.changes.values().flatten().flat_map(HashMap::values);
            changes.map(Change::key).collect()
        }),
        _ => None,
    };
    keys.map_or(WrittenItems::Any, WrittenItems::Items)
}

fn parsed<'a, T: Deserialize<'a>>(body: &'a [u8]) -> Option<T> {
    serde_json::from_slice(body).ok()
}

/// A change or check of one item.
#[derive(Deserialize)]
struct Change<'a> {
    /// The item's key, in an update, a deletion or a check.
    #[serde(rename = "Key", borrow)]
    key: Option<Key<'a>>,
    /// The item's key attributes, in a put.
    #[serde(rename = "Item", borrow)]
    item: Option<Key<'a>>,
}

impl Change<'_> {
    fn key(&self) -> Option<ItemKey> {
        let key = self.key.as_ref().or(self.item.as_ref())?;
        Some(ItemKey::new(key.pk.text.as_ref(), key.sk.text.as_ref()))
    }
}

#[derive(Deserialize)]
struct Key<'a> {
    #[serde(borrow)]
    pk: Text<'a>,
    #[serde(borrow)]
    sk: Text<'a>,
}

#[derive(Deserialize)]
struct Text<'a> {
    #[serde(rename = "S", borrow)]
    text: Cow<'a, str>,
}

/// Changes, each under its kind (`Put`, `Update`, `Delete`, `ConditionCheck`).
#[derive(Deserialize)]
struct Transaction<'a> {
    #[serde(rename = "TransactItems", borrow)]
    changes: Vec<HashMap<Cow<'a, str>, Change<'a>>>,
}

/// Changes by table, each under its kind (`PutRequest`, `DeleteRequest`).
#[derive(Deserialize)]
struct Batch<'a> {
    #[serde(rename = "RequestItems", borrow)]
    changes: HashMap<Cow<'a, str>, Vec<HashMap<Cow<'a, str>, Change<'a>>>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_of_a_write_are_those_whose_keys_it_has() {
        let key = |sk: &str| ItemKey::new("A\"", sk);
        let item = |sk: &str| format!(r#"{{"n":{{"M":{{"pk":{{"S":"x"}}}}}},"pk":{{"S":"A\""}},"sk":{{"S":"{sk}"}}}}"#);
        let (one, two) = (item("1"), item("2"));
        let cases = [
            ("PutItem", format!(r#"{{"TableName":"t","Item":{one}}}"#), vec![key("1")]),
            ("UpdateItem", format!(r#"{{"Key":{one},"UpdateExpression":"REMOVE a"}}"#), vec![key("1")]),
            ("DeleteItem", format!(r#"{{"Key":{two}}}"#), vec![key("2")]),
            (
                "TransactWriteItems",
                format!(r#"{{"TransactItems":[{{"Put":{{"Item":{one}}}}},{{"ConditionCheck":{{"Key":{two}}}}}]}}"#),
                vec![key("1"), key("2")],
            ),
            (
                "BatchWriteItem",
                format!(r#"{{"RequestItems":{{"t":[{{"PutRequest":{{"Item":{one}}}}},{{"DeleteRequest":{{"Key":{two}}}}}]}}}}"#),
                vec![key("1"), key("2")],
            ),
            ("GetItem", format!(r#"{{"Key":{one}}}"#), vec![]),
        ];
        for (operation, body, keys) in cases {
            assert_eq!(written(operation, body.as_bytes()), WrittenItems::Items(keys), "{operation}");
        }
    }

    #[test]
    fn calls_that_are_not_understood_may_write_any_item() {
        for (operation, body) in
            [("UpdateTable", "{}"), ("PutItem", "{}"), ("PutItem", r#"{"Item":{"pk":{"N":"1"},"sk":{"S":"1"}}}"#), ("DeleteItem", "")]
        {
            assert_eq!(written(operation, body.as_bytes()), WrittenItems::Any, "{operation} {body}");
        }
    }
}
