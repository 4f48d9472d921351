//! The table: one DynamoDB table for everything, read by key and written by condition.
//!
//! An item has its key (`pk`, `sk`), the entity as a map (`d`), and beside it what conditions, indexes and the TTL need. One file per
//! entity knows its keys and its access patterns; this one knows how to read, to write all or nothing, and what failures mean.
//! Reads are strongly consistent: whoever signed up is known to the next request.

pub mod accounts;
pub mod authorizations;
pub mod boosts;
pub mod bot_challenges;
pub mod broadcasts;
pub mod codes;
pub mod connect;
pub mod content;
pub mod deliveries;
pub mod endings;
pub mod images;
pub mod invitations;
pub mod key_sets;
pub mod limits;
pub mod links;
pub mod mail_documents;
pub mod mail_quota;
pub mod memberships;
pub mod outbox;
pub mod outbox_list;
pub mod outbox_moves;
pub mod outbox_work;
pub mod permissions;
pub mod project_deletion;
pub mod projects;
pub mod provider_accounts;
pub mod record;
pub mod reseal;
pub mod retry;
pub mod sessions;
pub mod sharded;
pub mod table;
pub mod team_deletion;
pub mod teams;
pub mod trail;
pub mod trail_chain;
pub mod trail_check;
pub mod trail_list;
pub mod transfer;
pub mod user_list;
pub mod users;
mod write;

use std::collections::HashMap;
use std::sync::Arc;

use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::batch_get_item::BatchGetItemInput;
use aws_sdk_dynamodb::operation::get_item::GetItemInput;
use aws_sdk_dynamodb::operation::query::QueryInput;
use aws_sdk_dynamodb::operation::query::builders::QueryInputBuilder;
use aws_sdk_dynamodb::operation::transact_write_items::{TransactWriteItemsError, TransactWriteItemsInput};
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes};
use serde::de::DeserializeOwned;

use crate::aws::{Client, Failure, Request};
use crate::entropy::Entropy;
use crate::model::limit::Refused;
use record::Turn;
use retry::{UNCERTAIN, Waits};
pub use write::Write;

/// An item as the SDK has it.
pub type Item = HashMap<String, AttributeValue>;

/// The table, as every handler reaches it.
#[derive(Clone)]
pub struct Store {
    client: Client,
    table: String,
    entropy: Entropy,
    /// What reads by key find without asking, see [`Self::knowing`].
    known: Arc<Items>,
}

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

    fn item(&self) -> Item {
        HashMap::from([("pk".to_owned(), string(&self.pk)), ("sk".to_owned(), string(&self.sk))])
    }
}

/// Why the table did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Conditions did not hold: the positions of those writes. Nothing was written.
    #[error("the conditions of the writes {0:?} do not hold")]
    Conflict(Vec<usize>),
    /// A limit is reached. Nothing was written.
    #[error("a limit is reached: {0}")]
    Limited(Refused),
    /// Throttled, contended or unreachable, for as long as a request may wait. Nothing was written.
    #[error("the table is not available: {0}")]
    Unavailable(String),
    /// An item is not what this version of the program writes.
    #[error("an item cannot be read")]
    Corrupt(#[from] serde_dynamo::Error),
    #[error("the table refused a request: {0}")]
    Refused(String),
    /// More than one write can take. Nothing was written.
    #[error("this is too much to write at once: {0}")]
    TooMuch(String),
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

    async fn ask<R: Request<Error: ProvideErrorMetadata>>(&self, request: R) -> Result<R::Output, Error> {
        self.client.call(request).await.map_err(failure)
    }

    /// Reads one item: one unit for each 4 KB, or nothing when it is known.
    async fn get(&self, key: &Key) -> Result<Option<Item>, Error> {
        match self.known.0.get(key) {
            Some(found) => Ok(found.clone()),
            None => self.get_now(key).await,
        }
    }

    async fn get_now(&self, key: &Key) -> Result<Option<Item>, Error> {
        let request = GetItemInput::builder().table_name(&self.table).set_key(Some(key.item())).consistent_read(true);
        Ok(self.ask(request).await?.item)
    }

    /// A query that is still to say what of.
    fn query(&self) -> QueryInputBuilder {
        QueryInput::builder().table_name(&self.table)
    }

    /// A page of what a query finds, and the key after which the next one begins. A page may be empty, and others come nevertheless.
    async fn query_page(&self, query: QueryInputBuilder) -> Result<(Vec<Item>, Option<Item>), Error> {
        let answer = self.ask(query).await?;
        Ok((answer.items.unwrap_or_default(), answer.last_evaluated_key.filter(|key| !key.is_empty())))
    }

    /// All that a query finds.
    async fn query_all(&self, query: QueryInputBuilder) -> Result<Vec<Item>, Error> {
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
        let refusals: Vec<_> = writes.iter().map(Write::refusal).collect();
        let result = self.try_transact(writes).await;
        let Err(Error::Conflict(failed)) = result else { return result };
        // A limit that is reached is said before anything that the other conditions would tell.
        let refused = failed.iter().find_map(|index| refusals.get(*index).copied().flatten());
        Err(refused.map_or(Error::Conflict(failed), Error::Limited))
    }

    async fn try_transact(&self, writes: Vec<Write>) -> Result<(), Error> {
        let items: Vec<_> = writes.into_iter().map(|write| write.transaction_item(&self.table)).collect::<Result<_, _>>()?;
        // Whatever happens on the way, DynamoDB makes a transaction once for each token.
        let token = self.entropy.uuid();
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
        let (mark, refusal) = (self.entropy.uuid().to_string(), write.refusal());
        let write = write.marked(&mark);
        match write.clone().send(self).await {
            Ok(()) => Ok(()),
            // An answer was lost before: the item tells whether this write is what now stands in its way.
            Err((Error::Conflict(_), true)) if write.is_done(self.get_now(write.key()).await?.as_ref(), &mark) => Ok(()),
            Err((Error::Conflict(failed), _)) => Err(refusal.map_or(Error::Conflict(failed), Error::Limited)),
            Err((error, _)) => Err(error),
        }
    }

    /// [`Self::write_unrecorded`] of an update, and the item as it is afterwards.
    pub(super) async fn write_unrecorded_returning(&self, write: Write) -> Result<Item, Error> {
        let (mark, refusal) = (self.entropy.uuid().to_string(), write.refusal());
        let write = write.marked(&mark);
        match write.clone().send_update(self).await {
            Ok(item) => Ok(item),
            Err((Error::Conflict(failed), is_uncertain)) => {
                let found = if is_uncertain { self.get_now(write.key()).await? } else { None };
                let refused = || refusal.map_or(Error::Conflict(failed), Error::Limited);
                found.filter(|item| write.is_done(Some(item), &mark)).ok_or_else(refused)
            }
            Err((error, _)) => Err(error),
        }
    }
}

/// What a batch of reads found, and what it did not.
#[derive(Debug, Default)]
pub struct Items(HashMap<Key, Option<Item>>);

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

fn key_of(item: &Item) -> Option<Key> {
    Some(Key::new(item.get("pk")?.as_s().ok()?, item.get("sk")?.as_s().ok()?))
}

/// The entity of an item.
fn entity<T: DeserializeOwned>(mut item: Item) -> Result<T, Error> {
    let entity = item.remove("d").unwrap_or(AttributeValue::M(HashMap::new()));
    Ok(serde_dynamo::from_attribute_value(entity)?)
}

fn number<T: std::str::FromStr>(item: &Item, name: &str) -> Option<T> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

fn string(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

fn integer(number: impl ToString) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

/// A time that sorts as text, for the keys of indexes: milliseconds since the epoch in 15 digits.
fn sortable(time: jiff::Timestamp) -> String {
    format!("{:015}", time.as_millisecond().max(0))
}

/// Whether an answer to the same call was lost before this one.
fn is_uncertain<E>(error: &Failure<E>) -> bool {
    error.raw_response().is_some_and(|answer| answer.headers().contains_key(UNCERTAIN))
}

/// What a failed call means.
fn failure<E: ProvideErrorMetadata + std::fmt::Debug>(error: Failure<E>) -> Error {
    match &error {
        SdkError::ServiceError(service) => match service.err().code().unwrap_or_default() {
            "ConditionalCheckFailedException" => Error::Conflict(vec![0]),
            _ if service.raw().status().is_server_error() => Error::Unavailable(service.err().code().unwrap_or("5xx").to_owned()),
            "TransactionConflictException"
            | "TransactionInProgressException"
            | "ThrottlingException"
            | "ProvisionedThroughputExceededException"
            | "RequestLimitExceeded"
            | "InternalServerError"
            | "ServiceUnavailable" => Error::Unavailable(service.err().code().unwrap_or_default().to_owned()),
            code => Error::Refused(format!("{code}: {}", service.err().message().unwrap_or_default())),
        },
        SdkError::TimeoutError(_) | SdkError::DispatchFailure(_) | SdkError::ResponseError(_) => Error::Unavailable(format!("{error:?}")),
        _ => Error::Refused(format!("{error:?}")),
    }
}

/// What a cancelled transaction means: conditions first, as trying again would not help them.
fn cancelled(error: Failure<TransactWriteItemsError>) -> Error {
    let SdkError::ServiceError(service) = &error else { return failure(error) };
    let TransactWriteItemsError::TransactionCanceledException(cancelled) = service.err() else { return failure(error) };
    let codes: Vec<&str> = cancelled.cancellation_reasons().iter().map(|reason| reason.code().unwrap_or_default()).collect();
    let failed: Vec<usize> =
        codes.iter().enumerate().filter(|(_, code)| **code == "ConditionalCheckFailed").map(|(index, _)| index).collect();
    if !failed.is_empty() {
        return Error::Conflict(failed);
    }
    let retryable = |code: &&str| matches!(*code, "TransactionConflict" | "ThrottlingError" | "ProvisionedThroughputExceeded");
    if codes.iter().any(retryable) { Error::Unavailable(codes.join(" ")) } else { Error::Refused(codes.join(" ")) }
}
