//! Constants and functions shared by all content items: their partition, their size limit, and the
//! keys under which a publication lists them.

use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use serde::Serialize;

use crate::table::{Error, Key, Store, Write, string};

/// The partition of all content, which contains nothing else.
pub const PARTITION: &str = "CONTENT";
pub(super) const SITE: &str = "SITE";
pub(super) const APPS: &str = "APPS";
pub(super) const RECORD: &str = "PUBLICATION#";
/// The sort-key prefix of image bytes. The bytes sort last, so that a query for keys need not read
/// them.
pub(super) const BYTES: &str = "~";
/// Less than the 400 KB that DynamoDB permits per item, to leave room for keys and overhead.
pub(super) const MAX_ITEM_BYTES: usize = 380_000;
/// The maximum number of attempts to read or publish while other publications interfere.
pub(super) const MAX_ATTEMPTS: u32 = 6;
/// The maximum number of items that DynamoDB reads in one request.
pub(super) const BATCH: usize = 100;
/// Digests in keys are shortened to this number of characters (96 bits).
const DIGEST: usize = 16;

pub(super) fn key(sk: impl Into<String>) -> Key {
    Key::new(PARTITION, sk)
}

/// The key under which the publication with this number is recorded.
pub(super) fn record_key(number: u64) -> Key {
    key(format!("{RECORD}{number}"))
}

/// The sort-key prefix of an item that never changes: the item's kind and the digest of the entity.
pub(super) fn stem<T: Serialize>(kind: &str, entity: &T) -> Result<String, Error> {
    let json = serde_json::to_vec(entity).map_err(|error| Error::Refused(error.to_string()))?;
    Ok(format!("{kind}#{}#", &Digest::from_bytes(&json).as_str()[..DIGEST]))
}

/// The number of the publication that wrote the item with this sort key; 0 for keys without a
/// number, such as the items that earlier versions replaced with each publication.
pub(super) fn number_of(sk: &str) -> u64 {
    let last = sk.rsplit_once('#').filter(|(start, _)| start.contains('#'));
    last.and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

/// Puts an entity under this key, if the entity fits into an item; `what` names the entity in the
/// error.
pub(super) fn put<T: Serialize>(sk: &str, entity: &T, what: &str) -> Result<Write, Error> {
    let size = size_of(entity)?;
    if size > MAX_ITEM_BYTES {
        return Err(Error::TooMuch(format!("{what} has {size} bytes; at most {MAX_ITEM_BYTES} fit into an item")));
    }
    Write::put(key(sk), entity)
}

impl Store {
    /// Starts a query for the keys of all content except for the bytes of images.
    pub(super) fn content_keys(&self) -> QueryInputBuilder {
        let query = self.query().consistent_read(true).key_condition_expression("pk = :pk AND sk < :bytes");
        let query = query.projection_expression("pk, sk").expression_attribute_values(":pk", string(PARTITION));
        query.expression_attribute_values(":bytes", string(BYTES))
    }

    /// Starts a query for the content whose sort keys have this prefix.
    pub(super) fn content_below(&self, start: &str) -> QueryInputBuilder {
        let query = self.query().consistent_read(true).key_condition_expression("pk = :pk AND begins_with(sk, :start)");
        query.expression_attribute_values(":pk", string(PARTITION)).expression_attribute_values(":start", string(start))
    }
}

pub(super) fn size_of<T: Serialize>(value: &T) -> Result<usize, Error> {
    Ok(bytes(&serde_dynamo::to_attribute_value(value)?))
}

/// The size of a value as DynamoDB counts it (Developer Guide, Item sizes and formats). Content
/// consists only of strings, numbers, lists and maps.
fn bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::L(list) => 3 + list.iter().map(|value| 1 + bytes(value)).sum::<usize>(),
        AttributeValue::M(map) => 3 + map.iter().map(|(name, value)| 1 + name.len() + bytes(value)).sum::<usize>(),
        _ => 40,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_which_publication_wrote_its_item() {
        let stem = stem("TEXT", &"a").unwrap();
        assert_eq!(number_of(&format!("{stem}12")), 12);
        assert_eq!(number_of("TEXT#2026-01-02T03:04:05Z#hello#7"), 7);
        assert_eq!((number_of("POSTS#0003"), number_of("SLUGS#11"), number_of("SITE")), (0, 0, 0));
    }
}
