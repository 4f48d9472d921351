//! Items of the table. Each item contains its key (`pk`, `sk`), the entity as a map (`d`), and the
//! attributes used by conditions, indexes and the TTL.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use crypto::digest::Digest;
use serde::de::DeserializeOwned;
use subtle::ConstantTimeEq as _;

use crate::table::error::Error;

/// An item, as the SDK represents it.
pub type Item = HashMap<String, AttributeValue>;

/// The approximate size of an item, in bytes.
pub(crate) fn bytes_of(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + bytes_of_value(value)).sum()
}

fn bytes_of_value(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) | AttributeValue::N(text) => text.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::Ss(texts) | AttributeValue::Ns(texts) => texts.iter().map(String::len).sum(),
        AttributeValue::L(values) => values.iter().map(bytes_of_value).sum(),
        AttributeValue::M(item) => bytes_of(item),
        _ => 1,
    }
}

/// The primary key of an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The partition key.
    pub pk: String,
    /// The sort key.
    pub sk: String,
}

impl Key {
    /// The key with this partition key and this sort key.
    pub fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    /// The key of an item; `None` if the item has no key.
    pub fn of(item: &Item) -> Option<Self> {
        Some(Self::new(item.get("pk")?.as_s().ok()?, item.get("sk")?.as_s().ok()?))
    }

    pub(crate) fn item(&self) -> Item {
        HashMap::from([("pk".to_owned(), string(&self.pk)), ("sk".to_owned(), string(&self.sk))])
    }
}

/// Deserializes an item's entity.
pub(crate) fn entity<T: DeserializeOwned>(mut item: Item) -> Result<T, Error> {
    let entity = item.remove("d").unwrap_or(AttributeValue::M(HashMap::new()));
    Ok(serde_dynamo::from_attribute_value(entity)?)
}

pub(crate) fn number<T: std::str::FromStr>(item: &Item, name: &str) -> Option<T> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

/// The attribute with the digest of the item's secret.
pub(crate) const DIGEST: &str = "digest";

/// Whether an item belongs to the secret with this digest, compared in constant time.
pub(crate) fn is_of_digest(item: &Item, digest: &Digest) -> bool {
    let stored = item.get(DIGEST).and_then(|value| value.as_s().ok());
    stored.is_some_and(|stored| stored.as_bytes().ct_eq(digest.as_str().as_bytes()).into())
}

pub(crate) fn string(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(crate) fn integer(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// A time as a string that sorts chronologically, for index keys: 15 digits with the milliseconds
/// since the Unix epoch.
pub(crate) fn sortable(time: jiff::Timestamp) -> String {
    format!("{:015}", time.as_millisecond().max(0))
}
