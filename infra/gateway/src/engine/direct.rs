//! Reads without requests: the inputs of the AWS client are passed to the engine as values, and the
//! engine's items to the client. Over the connector, each read prints JSON twice and parses JSON
//! twice.
//!
//! Only reads that succeed are answered here. A read that the engine refuses is repeated over the
//! connector, so there is one place that turns the engine's errors into the client's. A read with
//! consumed capacity, parameters of earlier versions of DynamoDB, or unusual values, which only the
//! engine's JSON interface reports or validates, is made only over the connector.
//!
//! Whole items of the table that were read recently are not read from the database again
//! (`recent`).

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use aws::{InProcess, Input, Output};
use aws_sdk_dynamodb::operation::batch_get_item::{BatchGetItemInput, BatchGetItemOutput};
use aws_sdk_dynamodb::operation::get_item::{GetItemInput, GetItemOutput};
use aws_sdk_dynamodb::operation::query::{QueryInput, QueryOutput};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue as Value, KeysAndAttributes as Keys};
use dynoxide::Database;
use dynoxide::actions::batch_get_item::{BatchGetItemRequest, KeysAndAttributes};
use dynoxide::actions::get_item::GetItemRequest;
use dynoxide::actions::query::QueryRequest;
use dynoxide::types::AttributeValue;

use super::calls::ItemKey;
use super::feed::TABLE;
use super::recent::{Found, Item, Recent};

#[cfg(test)]
mod tests;

/// The engine, as a service that answers reads in this process.
pub(super) struct Direct {
    database: Database,
    recent: Arc<Recent>,
}

/// The maximum number of keys in a batch. The engine refuses more.
const MOST_KEYS: usize = 100;
/// The maximum length of a sort key in bytes. Longer keys are left to the engine.
const MOST_KEY_BYTES: usize = 1024;

impl Direct {
    pub(super) fn new(database: Database, recent: Arc<Recent>) -> Self {
        Self { database, recent }
    }

    fn get_item(&self, input: &GetItemInput) -> Option<GetItemOutput> {
        if input.attributes_to_get.is_some() || input.return_consumed_capacity.is_some() {
            return None;
        }
        let key = input.key.as_ref().and_then(whole_key);
        let is_whole = input.projection_expression.is_none() && input.expression_attribute_names.is_none();
        let key = key.filter(|_| is_whole && input.table_name.as_deref() == Some(TABLE) && self.recent.is_usable());
        let unknown = match key.map(|key| self.recent.find(key)) {
            Some(Found::Item(item)) => return Some(GetItemOutput::builder().set_item(Some(Item::clone(&item))).build()),
            Some(Found::Unknown(unknown)) => Some(unknown),
            None => None,
        };
        let request = GetItemRequest {
            table_name: input.table_name.clone()?,
            key: to_engine(input.key.as_ref()?)?,
            consistent_read: input.consistent_read,
            projection_expression: input.projection_expression.clone(),
            expression_attribute_names: input.expression_attribute_names.clone(),
            ..GetItemRequest::default()
        };
        let item = self.database.get_item(request).ok()?.item.map(to_client);
        if let (Some(unknown), Some(item)) = (unknown, &item) {
            self.recent.keep(unknown, item);
        }
        Some(GetItemOutput::builder().set_item(item).build())
    }

    fn batch_get_item(&self, input: &BatchGetItemInput) -> Option<BatchGetItemOutput> {
        if input.return_consumed_capacity.is_some() {
            return None;
        }
        let tables = input.request_items.as_ref()?;
        if let Some(keys) = whole_items(tables)
            && self.recent.is_usable()
        {
            return self.items(keys);
        }
        let tables = tables.iter();
        let keys = tables.map(|(table, keys)| Some((table.clone(), keys_of(keys)?))).collect::<Option<_>>()?;
        Some(found(self.batch(keys)?))
    }

    /// The items of each table with these keys; `None` if the engine refused the batch or did not
    /// process all keys.
    fn batch(&self, request_items: HashMap<String, KeysAndAttributes>) -> Option<HashMap<String, Vec<Item>>> {
        let answer = self.database.batch_get_item(BatchGetItemRequest { request_items, ..BatchGetItemRequest::default() }).ok()?;
        // The engine returns unprocessed keys as JSON even here.
        if !answer.unprocessed_keys.is_empty() {
            return None;
        }
        let items = |items: Vec<_>| items.into_iter().map(to_client).collect();
        Some(answer.responses.into_iter().map(|(table, found)| (table, items(found))).collect())
    }

    /// The items with these keys, which are distinct.
    fn items(&self, keys: Vec<ItemKey>) -> Option<BatchGetItemOutput> {
        let (mut items, mut unknown) = (HashMap::new(), HashMap::new());
        for key in &keys {
            match self.recent.find(key.clone()) {
                Found::Item(item) => drop(items.insert(key.clone(), Item::clone(&item))),
                Found::Unknown(item) => drop(unknown.insert(key.clone(), item)),
            }
        }
        if !unknown.is_empty() {
            let text = |name: &str, text: &String| (name.to_owned(), AttributeValue::S(text.clone()));
            let keys = unknown.keys().map(|(pk, sk)| HashMap::from([text("pk", pk), text("sk", sk)])).collect();
            // All reads are strongly consistent in the engine.
            let keys = HashMap::from([(TABLE.to_owned(), KeysAndAttributes { keys, ..KeysAndAttributes::default() })]);
            for item in self.batch(keys)?.into_values().flatten() {
                let key = item_key(&item)?;
                if let Some(unknown) = unknown.remove(&key) {
                    self.recent.keep(unknown, &item);
                }
                items.insert(key, item);
            }
        }
        let items = keys.iter().filter_map(|key| items.remove(key)).collect();
        Some(found(HashMap::from([(TABLE.to_owned(), items)])))
    }

    fn query(&self, input: &QueryInput) -> Option<QueryOutput> {
        let is_legacy = input.key_conditions.is_some() || input.query_filter.is_some() || input.attributes_to_get.is_some();
        if is_legacy || input.conditional_operator.is_some() || input.return_consumed_capacity.is_some() {
            return None;
        }
        let values = match &input.expression_attribute_values {
            Some(values) => Some(to_engine(values)?),
            None => None,
        };
        let start = match &input.exclusive_start_key {
            Some(key) => Some(to_engine(key)?),
            None => None,
        };
        let request = QueryRequest {
            table_name: input.table_name.clone()?,
            key_condition_expression: input.key_condition_expression.clone(),
            filter_expression: input.filter_expression.clone(),
            projection_expression: input.projection_expression.clone(),
            expression_attribute_names: input.expression_attribute_names.clone(),
            expression_attribute_values: values,
            scan_index_forward: input.scan_index_forward.unwrap_or(true),
            limit: input.limit.map(usize::try_from).transpose().ok()?,
            exclusive_start_key: start,
            select: input.select.as_ref().map(|select| select.as_str().to_owned()),
            consistent_read: input.consistent_read,
            index_name: input.index_name.clone(),
            ..QueryRequest::default()
        };
        let answer = self.database.query(request).ok()?;
        let output = QueryOutput::builder()
            .set_items(answer.items.map(|items| items.into_iter().map(to_client).collect()))
            .count(i32::try_from(answer.count).ok()?)
            .scanned_count(i32::try_from(answer.scanned_count).ok()?)
            .set_last_evaluated_key(answer.last_evaluated_key.map(to_client));
        Some(output.build())
    }
}

impl fmt::Debug for Direct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Direct")
    }
}

impl InProcess for Direct {
    fn answer(&self, input: &Input) -> Option<Output> {
        if let Some(input) = input.downcast_ref() {
            return self.batch_get_item(input).map(Output::erase);
        }
        if let Some(input) = input.downcast_ref() {
            return self.query(input).map(Output::erase);
        }
        self.get_item(input.downcast_ref()?).map(Output::erase)
    }
}

/// The keys of a batch that reads only whole items of the table; `None` if it reads others, or if
/// the engine could refuse it.
fn whole_items(tables: &HashMap<String, Keys>) -> Option<Vec<ItemKey>> {
    let keys = tables.get(TABLE).filter(|_| tables.len() == 1)?;
    let is_whole = keys.attributes_to_get.is_none() && keys.projection_expression.is_none() && keys.expression_attribute_names.is_none();
    let keys: Vec<ItemKey> = keys.keys.iter().filter(|_| is_whole).map(whole_key).collect::<Option<_>>()?;
    let are_distinct = keys.iter().collect::<HashSet<_>>().len() == keys.len();
    (1..=MOST_KEYS).contains(&keys.len()).then_some(keys).filter(|_| are_distinct)
}

/// A key without other attributes.
fn whole_key(key: &Item) -> Option<ItemKey> {
    item_key(key).filter(|_| key.len() == 2)
}

/// The key of an item; `None` if the engine could refuse it.
fn item_key(item: &Item) -> Option<ItemKey> {
    let part = |name: &str| item.get(name)?.as_s().ok().filter(|text| !text.is_empty() && text.len() <= MOST_KEY_BYTES).cloned();
    Some((part("pk")?, part("sk")?))
}

/// The answer with these items of each table.
fn found(items: HashMap<String, Vec<Item>>) -> BatchGetItemOutput {
    BatchGetItemOutput::builder().set_responses(Some(items)).set_unprocessed_keys(Some(HashMap::new())).build()
}

fn keys_of(keys: &Keys) -> Option<KeysAndAttributes> {
    if keys.attributes_to_get.is_some() {
        return None;
    }
    Some(KeysAndAttributes {
        keys: keys.keys.iter().map(to_engine).collect::<Option<_>>()?,
        projection_expression: keys.projection_expression.clone(),
        expression_attribute_names: keys.expression_attribute_names.clone(),
        consistent_read: keys.consistent_read,
        ..KeysAndAttributes::default()
    })
}

/// Values of keys and conditions; `None` if one of them must go over the connector.
fn to_engine(values: &HashMap<String, Value>) -> Option<HashMap<String, AttributeValue>> {
    values.iter().map(|(name, value)| Some((name.clone(), value_to_engine(value)?))).collect()
}

/// A value that keys and conditions usually have. Other values are left to the engine's JSON
/// interface, which refuses some of them: sets without members, numbers that are too long.
fn value_to_engine(value: &Value) -> Option<AttributeValue> {
    match value {
        Value::S(text) => Some(AttributeValue::S(text.clone())),
        Value::N(number) if number.parse::<i64>().is_ok() => Some(AttributeValue::N(number.clone())),
        Value::B(bytes) => Some(AttributeValue::B(bytes.as_ref().to_vec())),
        Value::Bool(value) => Some(AttributeValue::BOOL(*value)),
        _ => None,
    }
}

fn to_client(values: HashMap<String, AttributeValue>) -> HashMap<String, Value> {
    values.into_iter().map(|(name, value)| (name, value_to_client(value))).collect()
}

fn value_to_client(value: AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => Value::S(text),
        AttributeValue::N(number) => Value::N(number),
        AttributeValue::B(bytes) => Value::B(Blob::new(bytes)),
        AttributeValue::BOOL(value) => Value::Bool(value),
        AttributeValue::NULL(value) => Value::Null(value),
        AttributeValue::SS(texts) => Value::Ss(texts),
        AttributeValue::NS(numbers) => Value::Ns(numbers),
        AttributeValue::BS(all) => Value::Bs(all.into_iter().map(Blob::new).collect()),
        AttributeValue::L(values) => Value::L(values.into_iter().map(value_to_client).collect()),
        AttributeValue::M(values) => Value::M(to_client(values)),
    }
}
