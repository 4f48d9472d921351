//! Items as they were read from the table. A service in this process ([`aws::InProcess`]) can keep
//! rows for later reads, which then require neither the table nor deserialization.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use serde::de::DeserializeOwned;

use crate::table::error::Error;
use crate::table::item::{Item, Key, bytes_of, entity, string};

/// An item that was read, and the entity that was first deserialized from it.
#[derive(Debug)]
pub struct Row {
    item: Item,
    entity: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Row {
    /// A row without a deserialized entity.
    pub fn new(item: Item) -> Self {
        Self { item, entity: OnceLock::new() }
    }

    /// The item.
    pub fn item(&self) -> &Item {
        &self.item
    }

    /// The item; a copy if the row is shared.
    pub(crate) fn into_item(self: Arc<Self>) -> Item {
        Arc::try_unwrap(self).map_or_else(|row| row.item.clone(), |row| row.item)
    }

    /// The entity that `read` makes from the item. The entity is created once for all readers of
    /// the row, unless they read it as different types.
    pub(crate) fn shared<T, R>(&self, read: R) -> Result<Arc<T>, Error>
    where
        T: Any + Send + Sync,
        R: FnOnce(Item) -> Result<T, Error>,
    {
        if let Some(Ok(entity)) = self.entity.get().map(|entity| Arc::clone(entity).downcast()) {
            return Ok(entity);
        }
        let entity = Arc::new(read(self.item.clone())?);
        // If two entities are created at the same time, or of different types, the first one is
        // kept.
        let _ = self.entity.set(Arc::clone(&entity) as _);
        Ok(entity)
    }
}

/// A strongly consistent read of items by distinct keys. A service in this process responds with
/// [`Rows`].
#[derive(Debug)]
pub struct ReadRows {
    /// The name of the table.
    pub table: String,
    /// The keys.
    pub keys: Vec<Key>,
}

/// The rows of the items that exist, in any order.
#[derive(Debug)]
pub struct Rows(pub Vec<Arc<Row>>);

/// A strongly consistent read of items of one partition, in descending order of their sort keys. A
/// service in this process responds with a [`Page`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ReadPage {
    /// The name of the table.
    pub table: String,
    /// The partition key.
    pub pk: String,
    /// The smallest sort key.
    pub first: String,
    /// The largest sort key.
    pub last: String,
    /// The maximum number of items.
    pub limit: i32,
    /// The last sort key of the previous page; `None` for the first page.
    pub after: Option<String>,
}

/// A page of a partition.
#[derive(Debug, Clone)]
pub struct Page {
    /// The rows, in descending order of their sort keys.
    pub rows: Vec<Arc<Row>>,
    /// The sort key after which the next page begins; `None` after the last page.
    pub next: Option<String>,
}

impl ReadPage {
    /// The condition for the items of the page.
    pub const CONDITION: &str = "pk = :pk AND sk BETWEEN :first AND :last";

    /// The values of the condition.
    pub fn values(&self) -> [(&'static str, &str); 3] {
        [(":pk", &self.pk), (":first", &self.first), (":last", &self.last)]
    }

    /// The read as a query request.
    pub fn query(&self) -> QueryInputBuilder {
        let values = self.values().map(|(name, value)| (name.to_owned(), string(value)));
        QueryInputBuilder::default()
            .table_name(&self.table)
            .key_condition_expression(Self::CONDITION)
            .set_expression_attribute_values(Some(HashMap::from(values)))
            .scan_index_forward(false)
            .consistent_read(true)
            .limit(self.limit)
            .set_exclusive_start_key(self.after.as_ref().map(|sk| Key::new(&self.pk, sk).item()))
    }
}

/// The result of a batch read: the existing items, and the keys for which no item exists.
#[derive(Debug, Default)]
pub struct Items(pub(crate) HashMap<Key, Option<Arc<Row>>>);

impl Items {
    /// Removes and returns an item; `None` if it does not exist, was not read or has already been
    /// taken.
    pub fn take(&mut self, key: &Key) -> Option<Item> {
        self.0.remove(key).flatten().map(Row::into_item)
    }

    /// A copy of an item; `None` if it does not exist, was not read or has already been taken.
    pub fn get(&self, key: &Key) -> Option<Item> {
        self.row(key).map(|row| row.item().clone())
    }

    fn row(&self, key: &Key) -> Option<&Row> {
        self.0.get(key)?.as_deref()
    }

    /// The entity of an item.
    pub fn read<T: DeserializeOwned + Any + Send + Sync>(&self, key: &Key) -> Result<Option<Arc<T>>, Error> {
        self.read_as(key, entity)
    }

    /// The value that `read` makes from an item.
    pub fn read_as<T: Any + Send + Sync>(&self, key: &Key, read: fn(Item) -> Result<T, Error>) -> Result<Option<Arc<T>>, Error> {
        self.row(key).map(|row| row.shared(read)).transpose()
    }

    /// The approximate size of the items with these keys, in bytes.
    pub fn bytes_of(&self, keys: impl Iterator<Item = Key>) -> usize {
        keys.filter_map(|key| self.row(&key)).map(|row| bytes_of(row.item())).sum()
    }

    /// The approximate size of all items, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.values().flatten().map(|row| bytes_of(row.item())).sum()
    }

    /// Whether an item exists and was read.
    pub fn has(&self, key: &Key) -> bool {
        self.row(key).is_some()
    }

    /// Removes an item and deserializes its entity, if the item exists.
    pub fn entity<T: DeserializeOwned>(&mut self, key: &Key) -> Result<Option<T>, Error> {
        self.take(key).map(entity).transpose()
    }
}
