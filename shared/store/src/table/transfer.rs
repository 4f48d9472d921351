//! Export and import of whole tables, for the command line only. Lambda functions use only the item
//! format, for records of the table's stream and for digests of trail entries.
//!
//! Each item is a line `{"Item": …}` with typed attributes, in "DynamoDB JSON", the format that
//! DynamoDB uses for exports to S3 and imports from S3. Reading costs half a unit for each 4 KB.
//! Eventually consistent reads are sufficient if nobody is writing, or if every later write is
//! conditional ([`crate::reseal`]). Writing costs one unit for each KB, plus the cost of the
//! indexes.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::operation::describe_table::DescribeTableInput;
use aws_sdk_dynamodb::operation::put_item::PutItemInput;
use aws_sdk_dynamodb::operation::scan::ScanInput;
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use crate::table::client::Store;
use crate::table::error::Error;
use crate::table::item::{Item, Key, string};

/// A part of an exported table.
pub struct Page {
    /// The items, one per line.
    pub lines: Vec<String>,
    /// The key after which the next part begins; `None` after the last part.
    pub next: Option<String>,
}

/// The result of writing an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutOutcome {
    /// The item was written.
    Written,
    /// The table already contained exactly this item.
    Identical,
    /// The table already contained a different item with this key (`<pk> / <sk>`), which was kept.
    Differs(String),
}

/// An attribute value in the JSON form of DynamoDB's API.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum TypedValue {
    S(String),
    N(String),
    B(String),
    #[serde(rename = "BOOL")]
    Bool(bool),
    #[serde(rename = "NULL")]
    Null(bool),
    M(BTreeMap<String, TypedValue>),
    L(Vec<TypedValue>),
    #[serde(rename = "SS")]
    Strings(Vec<String>),
    #[serde(rename = "NS")]
    Numbers(Vec<String>),
    #[serde(rename = "BS")]
    Blobs(Vec<String>),
}

#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(rename = "Item")]
    item: BTreeMap<String, TypedValue>,
}

impl Store {
    /// Reads about a megabyte of items, starting at `from` or at the start of the table.
    pub async fn page(&self, from: Option<&str>) -> Result<Page, Error> {
        let (items, next) = self.items(from.map(read_item).transpose()?).await?;
        let lines = items.into_iter().map(write_item).collect::<Result<_, _>>()?;
        Ok(Page { lines, next: next.map(write_item).transpose()? })
    }

    /// The items of the first part, or of the part after a key, and the key after which the next
    /// part begins; `None` after the last part.
    pub async fn items(&self, after: Option<Item>) -> Result<(Vec<Item>, Option<Item>), Error> {
        let answer = self.ask(ScanInput::builder().table_name(&self.table).set_exclusive_start_key(after)).await?;
        Ok((answer.items.unwrap_or_default(), answer.last_evaluated_key.filter(|key| !key.is_empty())))
    }

    /// The partition keys that contain any of these strings, in one page of a scan of the whole
    /// table.
    pub(crate) async fn partitions_with(&self, parts: [&str; 2], after: Option<Item>) -> Result<(BTreeSet<String>, Option<Item>), Error> {
        let scan = ScanInput::builder().table_name(&self.table).set_exclusive_start_key(after).projection_expression("pk");
        let scan = scan.filter_expression("contains(pk, :one) OR contains(pk, :other)");
        let scan = scan.expression_attribute_values(":one", string(parts[0])).expression_attribute_values(":other", string(parts[1]));
        let answer = self.ask(scan).await?;
        let partitions = answer.items.unwrap_or_default().iter().filter_map(|item| item.get("pk")?.as_s().ok().cloned()).collect();
        Ok((partitions, answer.last_evaluated_key.filter(|key| !key.is_empty())))
    }

    /// The approximate number of items, which DynamoDB updates every six hours.
    pub async fn estimate(&self) -> Result<u64, Error> {
        let answer = self.ask(DescribeTableInput::builder().table_name(&self.table)).await?;
        Ok(answer.table.and_then(|table| table.item_count).and_then(|count| count.try_into().ok()).unwrap_or_default())
    }

    /// Writes a line's item if its key is unused; with `replace`, overwrites an existing item.
    pub async fn put_line(&self, line: &str, replace: bool) -> Result<PutOutcome, Error> {
        let item = read_item(line)?;
        let put = PutItemInput::builder().table_name(&self.table).set_item(Some(item.clone()));
        let put = if replace { put } else { put.condition_expression("attribute_not_exists(pk)") };
        match self.ask(put).await {
            Ok(_) => Ok(PutOutcome::Written),
            Err(Error::Conflict(_)) => {
                let key = Key::of(&item).ok_or_else(|| Error::Refused("an item has no key".to_owned()))?;
                let is_same = self.get(&key).await?.as_ref() == Some(&item);
                Ok(if is_same { PutOutcome::Identical } else { PutOutcome::Differs(format!("{} / {}", key.pk, key.sk)) })
            }
            Err(error) => Err(error),
        }
    }
}

/// The key of a line's item; `None` if the item does not have a key.
pub(crate) fn key_in(line: &str) -> Result<Option<Key>, Error> {
    Ok(Key::of(&read_item(line)?))
}

pub(crate) fn write_item(item: Item) -> Result<String, Error> {
    let line = Line { item: item.into_iter().map(|(name, value)| Ok((name, typed(value)?))).collect::<Result<_, Error>>()? };
    serde_json::to_string(&line).map_err(|error| Error::Refused(error.to_string()))
}

fn read_item(line: &str) -> Result<Item, Error> {
    let line: Line =
        serde_json::from_str(line).map_err(|error| Error::Refused(format!("the line is not an item in DynamoDB JSON: {error}")))?;
    line.item.into_iter().map(|(name, value)| Ok((name, attribute(value)?))).collect()
}

fn typed(value: AttributeValue) -> Result<TypedValue, Error> {
    let encoded = |blob: Blob| STANDARD.encode(blob.into_inner());
    Ok(match value {
        AttributeValue::S(text) => TypedValue::S(text),
        AttributeValue::N(number) => TypedValue::N(number),
        AttributeValue::B(blob) => TypedValue::B(encoded(blob)),
        AttributeValue::Bool(value) => TypedValue::Bool(value),
        AttributeValue::Null(value) => TypedValue::Null(value),
        AttributeValue::M(map) => {
            TypedValue::M(map.into_iter().map(|(name, value)| Ok((name, typed(value)?))).collect::<Result<_, Error>>()?)
        }
        AttributeValue::L(list) => TypedValue::L(list.into_iter().map(typed).collect::<Result<_, _>>()?),
        AttributeValue::Ss(texts) => TypedValue::Strings(texts),
        AttributeValue::Ns(numbers) => TypedValue::Numbers(numbers),
        AttributeValue::Bs(blobs) => TypedValue::Blobs(blobs.into_iter().map(encoded).collect()),
        _ => return Err(Error::Refused("an attribute has a type that this version does not support".to_owned())),
    })
}

pub(crate) fn attribute(value: TypedValue) -> Result<AttributeValue, Error> {
    let decoded = |text: String| {
        STANDARD.decode(text).map(Blob::new).map_err(|error| Error::Refused(format!("a binary value is not valid base64: {error}")))
    };
    Ok(match value {
        TypedValue::S(text) => AttributeValue::S(text),
        TypedValue::N(number) => AttributeValue::N(number),
        TypedValue::B(text) => AttributeValue::B(decoded(text)?),
        TypedValue::Bool(value) => AttributeValue::Bool(value),
        TypedValue::Null(value) => AttributeValue::Null(value),
        TypedValue::M(map) => {
            let map: Result<HashMap<_, _>, Error> = map.into_iter().map(|(name, value)| Ok((name, attribute(value)?))).collect();
            AttributeValue::M(map?)
        }
        TypedValue::L(list) => AttributeValue::L(list.into_iter().map(attribute).collect::<Result<_, _>>()?),
        TypedValue::Strings(texts) => AttributeValue::Ss(texts),
        TypedValue::Numbers(numbers) => AttributeValue::Ns(numbers),
        TypedValue::Blobs(texts) => AttributeValue::Bs(texts.into_iter().map(decoded).collect::<Result<_, _>>()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_every_type_survive_export_and_import() {
        let line = r#"{"Item":{"b":{"B":"AAEC"},"bs":{"BS":["AA==","AQ=="]},"d":{"M":{"l":{"L":[{"NULL":true},{"BOOL":false}]}}},"n":{"N":"-1.5"},"ns":{"NS":["1","2"]},"pk":{"S":"ü"},"ss":{"SS":["a"]}}}"#;
        assert_eq!(write_item(read_item(line).expect("an item")).expect("a line"), line);
        assert!(read_item(r#"{"Item":{"pk":{"X":"?"}}}"#).is_err());
    }
}
