//! Items as they were read. A service in this process ([`aws::InProcess`]) can keep rows and return
//! them to later reads, which then take neither the table nor the deserialising.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, key_of, string};

/// An item that was read, and the entity that was first deserialised from it.
#[derive(Debug)]
pub struct Row {
    item: Item,
    entity: OnceLock<Arc<dyn Any + Send + Sync>>,
}

impl Row {
    /// A row from which nothing has been deserialised.
    pub fn new(item: Item) -> Self {
        Self { item, entity: OnceLock::new() }
    }

    /// The item.
    pub fn item(&self) -> &Item {
        &self.item
    }

    /// The item; a copy if others have the row, too.
    pub(crate) fn into_item(self: Arc<Self>) -> Item {
        Arc::try_unwrap(self).map_or_else(|row| row.item.clone(), |row| row.item)
    }

    /// The entity that `read` makes of the item. It is made once for all who have the row, unless
    /// they read it as different types.
    pub(crate) fn shared<T, R>(&self, read: R) -> Result<Arc<T>, Error>
    where
        T: Any + Send + Sync,
        R: FnOnce(Item) -> Result<T, Error>,
    {
        if let Some(Ok(entity)) = self.entity.get().map(|entity| Arc::clone(entity).downcast()) {
            return Ok(entity);
        }
        let entity = Arc::new(read(self.item.clone())?);
        // Of two that are made at the same time, or of different types, one is kept.
        let _ = self.entity.set(Arc::clone(&entity) as _);
        Ok(entity)
    }
}

/// A strongly consistent read of items by their keys, which are distinct. A service in this process
/// answers it with [`Rows`].
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

/// A strongly consistent read of items of one partition, in the descending order of their sort
/// keys. A service in this process answers it with a [`Page`].
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
    /// The sort key of the last item of the page before; `None` for the first page.
    pub after: Option<String>,
}

/// A page of a partition.
#[derive(Debug, Clone)]
pub struct Page {
    /// The rows, whose sort keys are in descending order.
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

    /// The same read as a request.
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

impl Store {
    /// The rows with these keys, if a service in this process reads them; otherwise the keys.
    pub(crate) fn rows_here(&self, keys: Vec<Key>) -> Result<Vec<Arc<Row>>, Vec<Key>> {
        let read = ReadRows { table: self.table.clone(), keys };
        self.client.in_process(read).map(|Rows(rows)| rows).map_err(|read| read.keys)
    }

    /// Up to `limit` items of a partition with sort keys from `first` to `last`, in descending
    /// order. Costs one unit for each 4 KB that is read.
    pub(crate) async fn page_down(&self, read: ReadPage) -> Result<Page, Error> {
        let read = match self.client.in_process(read) {
            Ok(page) => return Ok(page),
            Err(read) => read,
        };
        let (items, next) = self.query_page(read.query()).await?;
        let next = next.as_ref().and_then(key_of).map(|key| key.sk);
        Ok(Page { rows: items.into_iter().map(|item| Arc::new(Row::new(item))).collect(), next })
    }
}
