//! Reads by key and by query, and makes writes that succeed or fail as a whole. Reads by key are
//! strongly consistent, so a new user is visible to the next request.

use std::collections::HashMap;
use std::sync::Arc;

use aws::{Client, Request};
use aws_sdk_dynamodb::error::ProvideErrorMetadata;
use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemInput;
use aws_sdk_dynamodb::operation::get_item::GetItemInput;
use aws_sdk_dynamodb::operation::query::QueryInput;
use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsInput;
use aws_sdk_dynamodb::types::KeysAndAttributes;
use wire::entropy::Entropy;

use crate::table::error::{Error, TransactionError, cancelled, failure};
use crate::table::item::{Item, Key, string};
use crate::table::label::Conflict;
use crate::table::retry::Waits;
use crate::table::row::{Items, Page, ReadPage, ReadRows, Row, Rows};
use crate::table::volume;
use crate::table::write::Write;

/// Access to the table.
#[derive(Clone)]
pub struct Store {
    pub(crate) client: Client,
    pub(crate) table: String,
    pub(crate) entropy: Entropy,
    /// Prefetched items, which [`Self::get`] and [`Self::get_many`] return without reading the
    /// table (see [`Self::knowing`]).
    pub(crate) known: Arc<Items>,
    /// Whether sessions and codes carry the trail entries of their requests
    /// ([`crate::trail::carried`]).
    pub(crate) carries_entries: bool,
}

/// The maximum number of items read by key in one call.
pub(crate) const BATCH: usize = 100;
/// The maximum number of items in a transaction. DynamoDB permits 100, one of which may be the
/// trail entry.
pub const MAX_WRITES: usize = 99;

impl Store {
    /// The client of DynamoDB.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The name of the table.
    pub fn table(&self) -> &str {
        &self.table
    }

    /// This store, but with prefetched items, which reads by key return unchanged. Use this store
    /// only for a first decision; the original store reads again and sees later changes.
    pub fn knowing(&self, items: Items) -> Self {
        Self { known: Arc::new(items), ..self.clone() }
    }

    pub(crate) async fn ask<R: Request<Error: ProvideErrorMetadata>>(&self, request: R) -> Result<R::Output, Error> {
        self.client.call(request).await.map_err(failure)
    }

    /// Reads one item. Costs one unit for each 4 KB, and nothing if the item is prefetched.
    pub(crate) async fn get(&self, key: &Key) -> Result<Option<Item>, Error> {
        match self.known.0.get(key) {
            Some(found) => Ok(found.as_ref().map(|row| row.item().clone())),
            None => self.get_now(key).await,
        }
    }

    /// Reads one item from the table, even if the item is prefetched.
    pub(crate) async fn get_now(&self, key: &Key) -> Result<Option<Item>, Error> {
        let found = match self.rows_here(vec![key.clone()]) {
            Ok(rows) => rows.into_iter().next().map(Row::into_item),
            Err(_) => {
                let request = GetItemInput::builder().table_name(&self.table).set_key(Some(key.item())).consistent_read(true);
                self.ask(request).await?.item
            }
        };
        volume::add(&found);
        Ok(found)
    }

    /// Starts a query, to which the caller must add the key condition.
    pub(crate) fn query(&self) -> QueryInputBuilder {
        QueryInput::builder().table_name(&self.table)
    }

    /// Queries a partition, with strong consistency.
    pub(crate) fn query_partition(&self, partition: impl Into<String>) -> QueryInputBuilder {
        self.query_in("pk = :pk", partition)
    }

    /// Like [`Self::query_partition`], but only for the sort keys that begin with `prefix`.
    pub(crate) fn query_prefix(&self, partition: impl Into<String>, prefix: &str) -> QueryInputBuilder {
        self.query_in("pk = :pk AND begins_with(sk, :prefix)", partition).expression_attribute_values(":prefix", string(prefix))
    }

    /// Like [`Self::query_partition`], but only for the sort keys from `first` to `last`.
    pub(crate) fn query_range(&self, partition: impl Into<String>, first: impl Into<String>, last: impl Into<String>) -> QueryInputBuilder {
        let query = self.query_in("pk = :pk AND sk BETWEEN :first AND :last", partition);
        query.expression_attribute_values(":first", string(first)).expression_attribute_values(":last", string(last))
    }

    fn query_in(&self, condition: &str, partition: impl Into<String>) -> QueryInputBuilder {
        let query = self.query().key_condition_expression(condition).consistent_read(true);
        query.expression_attribute_values(":pk", string(partition))
    }

    /// One page of a query's result, and the key after which the next page begins; `None` after the
    /// last page. A page may be empty even if more pages follow.
    pub(crate) async fn query_page(&self, query: QueryInputBuilder) -> Result<(Vec<Item>, Option<Item>), Error> {
        let answer = self.ask(query).await?;
        volume::add(answer.items());
        Ok((answer.items.unwrap_or_default(), answer.last_evaluated_key.filter(|key| !key.is_empty())))
    }

    /// The whole result of a query.
    pub(crate) async fn query_all(&self, query: QueryInputBuilder) -> Result<Vec<Item>, Error> {
        let (mut items, mut pages) = (Vec::new(), self.query_pages(query));
        while let Some(page) = pages.next().await? {
            items.extend(page);
        }
        Ok(items)
    }

    /// Reads up to 100 items in one round trip, at one unit for each 4 KB of each item read. There
    /// are more round trips if DynamoDB leaves some items unprocessed, and none if all items are
    /// prefetched.
    pub async fn get_many(&self, keys: impl IntoIterator<Item = Key>) -> Result<Items, Error> {
        let with_known = |key: Key| {
            let row = self.known.0.get(&key).cloned().flatten();
            (key, row)
        };
        let mut found: HashMap<Key, Option<Arc<Row>>> = keys.into_iter().map(with_known).collect();
        let unknown: Vec<Key> = found.keys().filter(|key| !self.known.0.contains_key(key)).cloned().collect();
        let read = self.rows(unknown).await?;
        volume::add(read.iter().map(|row| row.item()));
        for row in read {
            if let Some(key) = Key::of(row.item()) {
                found.insert(key, Some(row));
            }
        }
        Ok(Items(found))
    }

    /// The rows with these keys, if a service in this process can read them; otherwise, the keys.
    pub(crate) fn rows_here(&self, keys: Vec<Key>) -> Result<Vec<Arc<Row>>, Vec<Key>> {
        let read = ReadRows { table: self.table.clone(), keys };
        self.client.in_process(read).map(|Rows(rows)| rows).map_err(|read| read.keys)
    }

    /// Up to `limit` items of a partition whose sort keys are between `first` and `last`, in
    /// descending order. Costs one unit for each 4 KB read.
    pub(crate) async fn page_down(&self, read: ReadPage) -> Result<Page, Error> {
        let read = match self.client.in_process::<_, Page>(read) {
            Ok(page) => {
                volume::add(page.rows.iter().map(|row| row.item()));
                return Ok(page);
            }
            Err(read) => read,
        };
        let (items, next) = self.query_page(read.query()).await?;
        let next = next.as_ref().and_then(Key::of).map(|key| key.sk);
        Ok(Page { rows: items.into_iter().map(|item| Arc::new(Row::new(item))).collect(), next })
    }

    async fn rows(&self, keys: Vec<Key>) -> Result<Vec<Arc<Row>>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let keys = match self.rows_here(keys) {
            Ok(rows) => return Ok(rows),
            Err(keys) => keys,
        };
        let (mut rows, mut pending) = (Vec::new(), keys.iter().map(Key::item).collect::<Vec<_>>());
        let mut waits = Waits::new(&self.entropy);
        while !pending.is_empty() {
            let keys = KeysAndAttributes::builder().set_keys(Some(pending)).consistent_read(true).build();
            let keys = keys.map_err(|error| Error::Refused(error.to_string()))?;
            let mut answer = self.ask(BatchGetItemInput::builder().request_items(&self.table, keys)).await?;
            let items = answer.responses.as_mut().and_then(|tables| tables.remove(&self.table)).unwrap_or_default();
            rows.extend(items.into_iter().map(|item| Arc::new(Row::new(item))));
            pending = answer.unprocessed_keys.and_then(|mut tables| tables.remove(&self.table)).map(|rest| rest.keys).unwrap_or_default();
            if !pending.is_empty() && !waits.next().await {
                return Err(Error::Unavailable("DynamoDB left reads unprocessed".to_owned()));
            }
        }
        Ok(rows)
    }

    /// Like [`Self::transact`], but for writes that must not be recorded in the trail. A single
    /// write does not need a transaction and costs half as much.
    pub async fn transact_unrecorded(&self, mut writes: Vec<Write>) -> Result<(), Error> {
        if writes.len() == 1
            && let Some(write) = writes.pop_if(|write| write.changes_something())
        {
            return self.write_unrecorded(write).await;
        }
        let meanings: Vec<_> = writes.iter().map(|write| (write.label(), write.refusal())).collect();
        let failed = match self.try_transact(writes).await {
            Ok(()) => return Ok(()),
            Err(TransactionError::Otherwise(error)) => return Err(error),
            Err(TransactionError::ByConditions(positions)) => positions.into_iter().filter_map(|position| meanings.get(position)),
        };
        // If a limit is reached, only the limit is reported: other failed conditions could tell a
        // caller over the limit, for example, whether a guess was right.
        let refused = failed.clone().find_map(|(_, refusal)| *refusal);
        Err(refused.map_or_else(|| Error::Conflict(Conflict::new(failed.filter_map(|(label, _)| *label))), Error::Limited))
    }

    async fn try_transact(&self, writes: Vec<Write>) -> Result<(), TransactionError> {
        let items = writes.into_iter().map(|write| write.transaction_item(&self.table)).collect::<Result<Vec<_>, _>>();
        // DynamoDB executes a transaction once per token, no matter how often it receives the
        // request.
        let token = self.entropy.uuid();
        let items = items.map_err(TransactionError::Otherwise)?;
        let request = TransactWriteItemsInput::builder().set_transact_items(Some(items)).client_request_token(token);
        self.client.call(request).await.map(drop).map_err(cancelled)
    }

    /// Like [`Self::write`], but for writes that must not be recorded in the trail, such as
    /// counters, times of last use, the state of a sign-in or a worker's progress.
    pub async fn write_unrecorded(&self, write: Write) -> Result<(), Error> {
        let (mark, meaning) = (self.mark(), write.meaning());
        let write = write.marked(&mark);
        match write.clone().send(&self.client, &self.table).await {
            Ok(()) => Ok(()),
            // The condition may fail only because an earlier attempt was executed. The mark in the
            // item shows whether that is the reason.
            Err((Error::Conflict(_), true)) if write.is_done(self.get_now(write.key()).await?.as_ref(), &mark) => Ok(()),
            Err((Error::Conflict(_), _)) => Err(meaning),
            Err((error, _)) => Err(error),
        }
    }

    /// The mark of a write ([`Write::marked`]). The mark is short because it is stored. A random
    /// mark differs from the mark of any write that may come between two attempts.
    fn mark(&self) -> String {
        format!("{:x}", u64::from_be_bytes(self.entropy.bytes()))
    }

    /// Like [`Self::write_unrecorded`], but for an update; returns the updated item.
    pub(crate) async fn write_unrecorded_returning(&self, write: Write) -> Result<Item, Error> {
        let (mark, meaning) = (self.mark(), write.meaning());
        let write = write.marked(&mark);
        match write.clone().send_update(&self.client, &self.table).await {
            Ok(item) => Ok(item),
            Err((Error::Conflict(_), is_uncertain)) => {
                let found = if is_uncertain { self.get_now(write.key()).await? } else { None };
                found.filter(|item| write.is_done(Some(item), &mark)).ok_or(meaning)
            }
            Err((error, _)) => Err(error),
        }
    }
}
