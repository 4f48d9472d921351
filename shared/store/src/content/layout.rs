//! What all items of the content have in common: their partition, the version of their publication,
//! and the limit of their size.

use std::time::Duration;

use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use aws_sdk_dynamodb::types::AttributeValue;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, integer, number, string};
use crate::write::Write;

/// The partition of all content, which holds nothing else.
pub const PARTITION: &str = "CONTENT";
/// DynamoDB permits 400 KB per item; this lower maximum leaves room for keys and overhead.
pub(super) const MAX_ITEM_BYTES: usize = 380_000;
/// How often a read or a publication is attempted while other publications interfere with it.
pub(super) const ROUNDS: u32 = 6;

/// The version of a publication, the number of its post items, and how many publications preceded
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Version {
    pub(super) digest: String,
    pub(super) post_items: usize,
    pub(super) number: u64,
}

impl Version {
    pub(super) fn of_item(item: &Item) -> Option<Self> {
        let digest = item.get("version")?.as_s().ok()?.clone();
        // Publications of earlier versions have no number.
        Some(Self { digest, post_items: number(item, "post_items")?, number: number(item, "number").unwrap_or(0) })
    }

    pub(super) fn mark(&self, write: Write) -> Write {
        let write = write.attribute("version", string(&self.digest)).attribute("post_items", integer(self.post_items));
        write.attribute("number", integer(self.number))
    }
}

/// Waits before every round except the first: 5 ms, doubled each time.
pub(super) async fn pause(round: u32) {
    if round > 0 {
        tokio::time::sleep(Duration::from_millis(5 << (round - 1))).await;
    }
}

impl Store {
    /// Starts a query for the content whose sort key begins with `start`.
    pub(super) fn content_below(&self, start: &str) -> QueryInputBuilder {
        let query = self.query().consistent_read(true).key_condition_expression("pk = :pk AND begins_with(sk, :start)");
        query.expression_attribute_values(":pk", string(PARTITION)).expression_attribute_values(":start", string(start))
    }
}

pub(super) fn size_of<T: serde::Serialize>(value: &T) -> Result<usize, Error> {
    Ok(bytes(&serde_dynamo::to_attribute_value(value)?))
}

/// The size of a value as DynamoDB counts it (Developer Guide, Item sizes and formats); only texts,
/// lists and maps occur here.
pub(super) fn bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::L(list) => 3 + list.iter().map(|value| 1 + bytes(value)).sum::<usize>(),
        AttributeValue::M(map) => 3 + map.iter().map(|(name, value)| 1 + name.len() + bytes(value)).sum::<usize>(),
        _ => 40,
    }
}
