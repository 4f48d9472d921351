//! Reads by key and by query, writes all or nothing. Reads are strongly consistent: whoever signed up is known to the next request.

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

use crate::error::{Cancelled, Error, cancelled, failure};
use crate::item::{Item, Items, Key, key_of};
use crate::label::Conflict;
use crate::record::Turn;
use crate::retry::Waits;
use crate::write::Write;

/// The table, as every handler reaches it.
#[derive(Clone)]
pub struct Store {
    pub(crate) client: Client,
    pub(crate) table: String,
    pub(crate) entropy: Entropy,
    /// What reads by key find without asking, see [`Self::knowing`].
    pub(crate) known: Arc<Items>,
}

/// How many items a transaction may write beside its entry of the trail: DynamoDB takes 100.
pub const MAX_WRITES: usize = 99;

impl Store {
    pub fn client(&self) -> &Client {
        &self.client
    }

    pub fn table(&self) -> &str {
        &self.table
    }

    /// The same table, whose reads by key find these items as they are here. Only for what is decided once: a second look must see what
    /// changed since.
    pub fn knowing(&self, items: Items) -> Self {
        Self { known: Arc::new(items), ..self.clone() }
    }

    pub(crate) async fn ask<R: Request<Error: ProvideErrorMetadata>>(&self, request: R) -> Result<R::Output, Error> {
        self.client.call(request).await.map_err(failure)
    }

    /// Reads one item: one unit for each 4 KB, or nothing when it is known.
    pub(crate) async fn get(&self, key: &Key) -> Result<Option<Item>, Error> {
        match self.known.0.get(key) {
            Some(found) => Ok(found.clone()),
            None => self.get_now(key).await,
        }
    }

    pub(crate) async fn get_now(&self, key: &Key) -> Result<Option<Item>, Error> {
        let request = GetItemInput::builder().table_name(&self.table).set_key(Some(key.item())).consistent_read(true);
        Ok(self.ask(request).await?.item)
    }

    /// A query that is still to say what of.
    pub(crate) fn query(&self) -> QueryInputBuilder {
        QueryInput::builder().table_name(&self.table)
    }

    /// A page of what a query finds, and the key after which the next one begins. A page may be empty, and others come nevertheless.
    pub(crate) async fn query_page(&self, query: QueryInputBuilder) -> Result<(Vec<Item>, Option<Item>), Error> {
        let answer = self.ask(query).await?;
        Ok((answer.items.unwrap_or_default(), answer.last_evaluated_key.filter(|key| !key.is_empty())))
    }

    /// All that a query finds.
    pub(crate) async fn query_all(&self, query: QueryInputBuilder) -> Result<Vec<Item>, Error> {
        let (mut items, mut next) = self.query_page(query.clone()).await?;
        while next.is_some() {
            let (more, after) = self.query_page(query.clone().set_exclusive_start_key(next)).await?;
            items.extend(more);
            next = after;
        }
        Ok(items)
    }

    /// Reads up to 100 items in one round trip: one unit for each 4 KB of each that is not known.
    pub async fn get_many(&self, keys: impl IntoIterator<Item = Key>) -> Result<Items, Error> {
        let with_known = |key: Key| {
            let item = self.known.get(&key);
            (key, item)
        };
        let mut found: HashMap<Key, Option<Item>> = keys.into_iter().map(with_known).collect();
        let mut pending: Vec<Item> = found.keys().filter(|key| !self.known.0.contains_key(key)).map(Key::item).collect();
        let mut waits = Waits::new(&self.entropy);
        while !pending.is_empty() {
            let keys = KeysAndAttributes::builder().set_keys(Some(pending)).consistent_read(true).build();
            let keys = keys.map_err(|error| Error::Refused(error.to_string()))?;
            let mut answer = self.ask(BatchGetItemInput::builder().request_items(&self.table, keys)).await?;
            for item in answer.responses.as_mut().and_then(|tables| tables.remove(&self.table)).unwrap_or_default() {
                if let Some(key) = key_of(&item) {
                    found.insert(key, Some(item));
                }
            }
            pending = answer.unprocessed_keys.and_then(|mut tables| tables.remove(&self.table)).map(|rest| rest.keys).unwrap_or_default();
            if !pending.is_empty() && !waits.next().await {
                return Err(Error::Unavailable("reads stay unprocessed".to_owned()));
            }
        }
        Ok(Items(found))
    }

    /// Writes all or nothing, at most [`MAX_WRITES`] items: two units for each KB of each. The first change of a request has its entry of
    /// the trail with it ([`record`]), which costs as much.
    pub async fn transact(&self, writes: impl IntoIterator<Item = Write>) -> Result<(), Error> {
        let mut writes: Vec<Write> = writes.into_iter().collect();
        let Some(mut turn) = Turn::of(&writes)? else { return self.transact_unrecorded(writes).await };
        // At the end, so that the others keep their positions.
        writes.extend(turn.write());
        self.transact_unrecorded(writes).await?;
        turn.made();
        Ok(())
    }

    /// The same for what is no change that a trail tells.
    pub async fn transact_unrecorded(&self, writes: Vec<Write>) -> Result<(), Error> {
        let meanings: Vec<_> = writes.iter().map(|write| (write.label(), write.refusal())).collect();
        let failed = match self.try_transact(writes).await {
            Ok(()) => return Ok(()),
            Err(Cancelled::Otherwise(error)) => return Err(error),
            Err(Cancelled::ByConditions(positions)) => positions.into_iter().filter_map(|position| meanings.get(position)),
        };
        // A limit that is reached is said before anything that the other conditions would tell.
        let refused = failed.clone().find_map(|(_, refusal)| *refusal);
        Err(refused.map_or_else(|| Error::Conflict(Conflict::new(failed.filter_map(|(label, _)| *label))), Error::Limited))
    }

    async fn try_transact(&self, writes: Vec<Write>) -> Result<(), Cancelled> {
        let items = writes.into_iter().map(|write| write.transaction_item(&self.table)).collect::<Result<Vec<_>, _>>();
        // Whatever happens on the way, DynamoDB makes a transaction once for each token.
        let token = self.entropy.uuid();
        let items = items.map_err(Cancelled::Otherwise)?;
        let request = TransactWriteItemsInput::builder().set_transact_items(Some(items)).client_request_token(token);
        self.client.call(request).await.map(drop).map_err(cancelled)
    }

    /// One conditional write: one unit for each KB. The first change of a request is a transaction with its entry of the trail.
    pub async fn write(&self, write: Write) -> Result<(), Error> {
        let Some(mut turn) = Turn::of(std::slice::from_ref(&write))? else { return self.write_unrecorded(write).await };
        self.transact_unrecorded([write].into_iter().chain(turn.write()).collect()).await?;
        turn.made();
        Ok(())
    }

    /// The same for what is no change that a trail tells: counters, times of last use, what a worker moves on.
    pub async fn write_unrecorded(&self, write: Write) -> Result<(), Error> {
        let (mark, meaning) = (self.entropy.uuid().to_string(), write.meaning());
        let write = write.marked(&mark);
        match write.clone().send(&self.client, &self.table).await {
            Ok(()) => Ok(()),
            // An answer was lost before: the item tells whether this write is what now stands in its way.
            Err((Error::Conflict(_), true)) if write.is_done(self.get_now(write.key()).await?.as_ref(), &mark) => Ok(()),
            Err((Error::Conflict(_), _)) => Err(meaning),
            Err((error, _)) => Err(error),
        }
    }

    /// [`Self::write_unrecorded`] of an update, and the item as it is afterwards.
    pub(crate) async fn write_unrecorded_returning(&self, write: Write) -> Result<Item, Error> {
        let (mark, meaning) = (self.entropy.uuid().to_string(), write.meaning());
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
