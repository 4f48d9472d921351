//! The pages of a query's result.

use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;

use crate::table::client::Store;
use crate::table::error::Error;
use crate::table::item::{Item, string};

/// Reads the result of a query page by page. A page may be empty even if more pages follow.
pub(crate) struct Pages<'a> {
    store: &'a Store,
    query: QueryInputBuilder,
    /// The key after which the next page begins.
    from: Option<Item>,
    is_done: bool,
}

impl Pages<'_> {
    /// The next page; `None` after the last page.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Item>>, Error> {
        if self.is_done {
            return Ok(None);
        }
        let (items, next) = self.store.query_page(self.query.clone().set_exclusive_start_key(self.from.take())).await?;
        self.is_done = next.is_none();
        self.from = next;
        Ok(Some(items))
    }

    /// Whether the last page has been read.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }
}

impl Store {
    /// The pages of a query's result.
    pub(crate) fn query_pages(&self, query: QueryInputBuilder) -> Pages<'_> {
        Pages { store: self, query, from: None, is_done: false }
    }

    /// A query for a list in `gsi1`.
    pub(crate) fn query_list(&self, partition: impl Into<String>) -> QueryInputBuilder {
        let query = self.query().index_name("gsi1").key_condition_expression("gsi1pk = :pk");
        query.expression_attribute_values(":pk", string(partition))
    }
}
