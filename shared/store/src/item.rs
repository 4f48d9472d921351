//! Items of the table: an item has its key (`pk`, `sk`), the entity as a map (`d`), and beside it what conditions, indexes and the TTL need.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// The primary key of an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub pk: String,
    pub sk: String,
}

impl Key {
    pub fn new(pk: impl Into<String>, sk: impl Into<String>) -> Self {
        Self { pk: pk.into(), sk: sk.into() }
    }

    pub(crate) fn item(&self) -> Item {
        HashMap::from([("pk".to_owned(), string(&self.pk)), ("sk".to_owned(), string(&self.sk))])
    }
}

/// What a batch of reads found, and what it did not.
#[derive(Debug, Default)]
pub struct Items(pub(crate) HashMap<Key, Option<Item>>);

impl Items {
    pub fn take(&mut self, key: &Key) -> Option<Item> {
        self.0.remove(key).flatten()
    }

    /// The item, which stays to be read again.
    pub fn get(&self, key: &Key) -> Option<Item> {
        self.0.get(key).cloned().flatten()
    }

    /// Reads the entity of an item, which stays to be read again.
    pub fn read<T: DeserializeOwned>(&self, key: &Key) -> Result<Option<T>, Error> {
        self.get(key).map(entity).transpose()
    }

    /// Reads the entity of an item, if there is one.
    pub fn entity<T: DeserializeOwned>(&mut self, key: &Key) -> Result<Option<T>, Error> {
        self.take(key).map(entity).transpose()
    }
}

pub(crate) fn key_of(item: &Item) -> Option<Key> {
    Some(Key::new(item.get("pk")?.as_s().ok()?, item.get("sk")?.as_s().ok()?))
}

/// The entity of an item.
pub(crate) fn entity<T: DeserializeOwned>(mut item: Item) -> Result<T, Error> {
    let entity = item.remove("d").unwrap_or(AttributeValue::M(HashMap::new()));
    Ok(serde_dynamo::from_attribute_value(entity)?)
}

pub(crate) fn number<T: std::str::FromStr>(item: &Item, name: &str) -> Option<T> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

pub(crate) fn string(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub(crate) fn integer(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// A time that sorts as text, for the keys of indexes: milliseconds since the epoch in 15 digits.
pub(crate) fn sortable(time: jiff::Timestamp) -> String {
    format!("{:015}", time.as_millisecond().max(0))
}
