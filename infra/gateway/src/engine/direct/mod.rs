//! Reads without HTTP requests: the AWS client's inputs are passed to the engine as values, and the
//! engine's items to the client. Through the connector, each read would serialize and parse JSON
//! twice.
//!
//! Only successful reads are direct. A read that the engine rejects is repeated through the
//! connector, because only the connector turns the engine's errors into errors of the client.
//! Queries with consumed capacity, with parameters of earlier versions of DynamoDB, or with unusual
//! values always use the connector, because only the engine's JSON interface validates or reports
//! them.
//!
//! Rows and pages of the table that were read recently are not read from the database again
//! (`recent`).

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use aws::{InProcess, Input, Output};
use aws_sdk_dynamodb::operation::query::{QueryInput, QueryOutput};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue as Value;
use dynoxide::Database;
use dynoxide::actions::batch_get_item::{BatchGetItemRequest, KeysAndAttributes};
use dynoxide::actions::query::QueryRequest;
use dynoxide::types::AttributeValue;
use store::Key;
use store::table::row::{Page, ReadPage, ReadRows, Row, Rows};

use super::feed::TABLE;
use super::recent::{Lookup, RecentReads};

#[cfg(test)]
mod tests;

/// Serves reads from the engine in this process.
pub(super) struct DirectReader {
    database: Database,
    recent: Arc<RecentReads>,
}

impl DirectReader {
    pub(super) fn new(database: Database, recent: Arc<RecentReads>) -> Self {
        Self { database, recent }
    }

    /// Whether rows and pages of a table can be kept.
    fn keeps(&self, table: &str) -> bool {
        table == TABLE && self.recent.is_usable()
    }

    /// The rows of existing items; `None` if the engine rejects the keys or leaves some of them
    /// unprocessed.
    fn rows(&self, read: &ReadRows) -> Option<Rows> {
        let keeps = self.keeps(&read.table);
        let (mut rows, mut unknown) = (Vec::with_capacity(read.keys.len()), HashMap::new());
        for key in &read.keys {
            match keeps.then(|| self.recent.find(key)) {
                Some(Lookup::Kept(row)) => rows.push(row),
                Some(Lookup::Unknown(place)) => drop(unknown.insert(key.clone(), Some(place))),
                None => drop(unknown.insert(key.clone(), None)),
            }
        }
        if unknown.is_empty() {
            return Some(Rows(rows));
        }
        // All reads of the engine are strongly consistent.
        let keys = KeysAndAttributes { keys: unknown.keys().map(key_to_engine).collect(), ..KeysAndAttributes::default() };
        let request = BatchGetItemRequest { request_items: HashMap::from([(read.table.clone(), keys)]), ..BatchGetItemRequest::default() };
        let answer = self.database.batch_get_item(request).ok()?;
        if !answer.unprocessed_keys.is_empty() {
            return None;
        }
        for item in answer.responses.into_values().flatten() {
            let row = Arc::new(Row::new(to_client(item)));
            if let Some(place) = unknown.remove(&Key::of(row.item())?).flatten() {
                self.recent.keep(place, &row);
            }
            rows.push(row);
        }
        Some(Rows(rows))
    }

    fn page(&self, read: &ReadPage) -> Option<Page> {
        let place = match self.keeps(&read.table).then(|| self.recent.find_page(read)) {
            Some(Lookup::Kept(page)) => return Some(page),
            Some(Lookup::Unknown(place)) => Some(place),
            None => None,
        };
        let answer = self.database.query(read_to_engine(read)?).ok()?;
        let rows = answer.items?.into_iter().map(|item| Arc::new(Row::new(to_client(item)))).collect();
        let next = match answer.last_evaluated_key {
            Some(key) => Some(Key::of(&to_client(key))?.sk),
            None => None,
        };
        let page = Page { rows, next };
        if let Some(place) = place {
            self.recent.keep_page(place, &page);
        }
        Some(page)
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

impl fmt::Debug for DirectReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Direct")
    }
}

impl InProcess for DirectReader {
    fn answer(&self, input: &Input) -> Option<Output> {
        if let Some(read) = input.downcast_ref() {
            return self.rows(read).map(Output::erase);
        }
        if let Some(read) = input.downcast_ref() {
            return self.page(read).map(Output::erase);
        }
        self.query(input.downcast_ref()?).map(Output::erase)
    }
}

fn key_to_engine(key: &Key) -> HashMap<String, AttributeValue> {
    [("pk", &key.pk), ("sk", &key.sk)].map(|(name, value)| (name.to_owned(), AttributeValue::S(value.clone()))).into()
}

fn read_to_engine(read: &ReadPage) -> Option<QueryRequest> {
    let values = read.values().map(|(name, value)| (name.to_owned(), AttributeValue::S(value.to_owned())));
    Some(QueryRequest {
        table_name: read.table.clone(),
        key_condition_expression: Some(ReadPage::CONDITION.to_owned()),
        expression_attribute_values: Some(values.into()),
        scan_index_forward: false,
        limit: Some(usize::try_from(read.limit).ok()?),
        exclusive_start_key: read.after.as_ref().map(|sk| key_to_engine(&Key::new(&read.pk, sk))),
        consistent_read: Some(true),
        ..QueryRequest::default()
    })
}

/// The values of keys and conditions; `None` if one of them needs the connector.
fn to_engine(values: &HashMap<String, Value>) -> Option<HashMap<String, AttributeValue>> {
    values.iter().map(|(name, value)| Some((name.clone(), value_to_engine(value)?))).collect()
}

/// A common value of a key or a condition. Uncommon values are left to the engine's JSON interface,
/// which rejects some of them, such as empty sets and numbers that are too long.
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
