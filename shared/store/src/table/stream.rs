//! Records of the table's stream, in the form in which Lambda receives them and the gateway reads
//! them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use crate::table::transfer::TypedValue;
use crate::table::{Error, Item, Key};

/// The width to which sequence numbers are padded, so that they sort as numbers: DynamoDB's
/// sequence numbers have 21 to 40 digits.
const DIGITS: usize = 40;

/// A change to an item.
#[derive(Debug, Clone)]
pub struct Record {
    /// The key of the item.
    pub key: Key,
    /// The position of the change; positions sort in the order of changes to an item.
    pub position: String,
    /// The time of the change, accurate to about a second.
    pub at: Timestamp,
    /// The item before the change; `None` if it did not exist.
    pub old: Option<Item>,
    /// The item after the change; `None` if it was deleted.
    pub new: Option<Item>,
}

impl Record {
    fn of(record: &Value) -> Result<Self, Error> {
        let change = &record["dynamodb"];
        let image = |name: &str| change.get(name).filter(|image| !image.is_null()).map(item).transpose();
        let missing = || Error::Refused("a record of the stream is malformed".to_owned());
        let (old, new) = (image("OldImage")?, image("NewImage")?);
        let number = change["SequenceNumber"].as_str().ok_or_else(missing)?;
        let seconds = change["ApproximateCreationDateTime"].as_f64().ok_or_else(missing)?;
        #[expect(clippy::cast_possible_truncation, reason = "milliseconds fit until the year 292,000,000")]
        let at = Timestamp::from_millisecond((seconds * 1000.0) as i64).map_err(|_| missing())?;
        let key = new.as_ref().or(old.as_ref()).and_then(Key::of).ok_or_else(missing)?;
        Ok(Self { key, position: format!("{number:0>DIGITS$}"), at, old, new })
    }
}

fn item(image: &Value) -> Result<Item, Error> {
    let image: BTreeMap<String, TypedValue> =
        serde_json::from_value(image.clone()).map_err(|error| Error::Refused(format!("an image in the stream is malformed: {error}")))?;
    image.into_iter().map(|(name, value)| Ok((name, crate::table::transfer::attribute(value)?))).collect()
}

/// The records in an event from the stream, in order. Records that cannot be parsed are logged and
/// skipped, because retries would also fail.
pub fn records(event: &Value) -> Vec<Record> {
    let parsed = |record: &Value| {
        Record::of(record)
            .inspect_err(
                |error| tracing::error!(%error, "a record of the table's stream cannot be parsed: its change has no webhook event and no carried trail entry"),
            )
            .ok()
    };
    event["Records"].as_array().into_iter().flatten().filter_map(parsed).collect()
}
