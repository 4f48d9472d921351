//! The table's stream, from which webhook events are made.
//!
//! The stream makes each write more expensive, so it is off until a project has a webhook endpoint,
//! unless other processes also use the table. The stream is switched on before the endpoint is
//! written, so that no later change is missed. The engine would keep records forever, so processed
//! records are deleted from the file unless other processes also read the stream. Records that
//! remain when this process ends are read by the next process. Processed records are deleted
//! through a second connection to the file, because the engine has no function to delete them.
//!
//! At each write, the engine searches all records for the last number. If the database is in a
//! file, [`index`] makes the search fast. Without the index, each unprocessed record would delay
//! all writes, including the writes that process it, and the queue would grow. A database in memory
//! has no index.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use dynoxide::Database;
use memchr::memmem;
use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The name of the table in embedded engines.
pub const TABLE: &str = "gatelet";
/// The tag of a table that other processes also use.
const SHARED: &str = "shared";
/// The index of the stream's records by number. The engine's searches use the index because they
/// contain the same expression for the number. The index is public for tests that keep their
/// database in memory.
pub const INDEX: &str =
    "CREATE INDEX IF NOT EXISTS gatelet_stream_numbers ON _stream_records (table_name, CAST(sequence_number AS INTEGER))";
/// The number of records that are read at once.
const READ: usize = 200;
/// How long another connection may keep the file locked.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The text contained in every call that writes a webhook endpoint.
const ENDPOINT: &[u8] = b"\"WEBHOOK#";

/// The state of the feed, shared with the connector.
#[derive(Default)]
pub(super) struct Feed {
    is_on: OnceLock<()>,
    changed: Notify,
    /// The iterator for the next read; `None` until the first records have been processed.
    next: Mutex<Option<String>>,
    /// The database file from which processed records are deleted; unset if the database is in
    /// memory, or if other processes read the stream.
    file: OnceLock<PathBuf>,
}

impl Feed {
    /// Switches the stream on if a call may write a webhook endpoint.
    pub(super) fn prepare(&self, database: &Database, body: &[u8]) -> Result<(), String> {
        if self.is_on() || memmem::find(body, ENDPOINT).is_none() {
            return Ok(());
        }
        switch_on(database)?;
        // Another call may have switched the stream on already.
        let _ = self.is_on.set(());
        Ok(())
    }

    /// Switches the stream on if `is_on`. If there is a file, processed records are deleted from
    /// it.
    pub(super) fn open(&self, database: &Database, file: Option<&Path>, is_on: bool) -> Result<(), String> {
        if let Some(file) = file {
            // The first call decides, because there is only one file.
            let _ = self.file.set(file.to_owned());
        }
        if is_on {
            switch_on(database)?;
            let _ = self.is_on.set(());
        }
        Ok(())
    }

    /// Whether the stream has been switched on for this process.
    pub(super) fn is_on(&self) -> bool {
        self.is_on.get().is_some()
    }

    /// Waits until something is written while the stream is on.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Notifies the reader that something was written.
    pub(super) fn written(&self) {
        if self.is_on() {
            self.changed.notify_one();
        }
    }

    /// The next records; `None` if there are none. Returns the same records until [`Self::finish`]
    /// is called.
    pub(super) fn read(&self, database: &Database) -> Result<Option<Batch>, String> {
        if !self.is_on() {
            return Ok(None);
        }
        let known = self.next.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let iterator = match known {
            Some(iterator) => iterator,
            None => first_iterator(database)?,
        };
        let answer = parsed(&json!({ "ShardIterator": iterator, "Limit": READ }), |request| database.get_records(request))?;
        let last = answer["Records"].as_array().and_then(|records| records.last());
        let Some(last) = last.and_then(|record| record["dynamodb"]["SequenceNumber"].as_str()) else { return Ok(None) };
        let last = stored_number(last).ok_or("a record of the stream has no number")?;
        let next = answer["NextShardIterator"].as_str().ok_or("the stream has ended")?.to_owned();
        Ok(Some(Batch { event: json!({ "Records": answer["Records"] }), next, last }))
    }

    /// Marks the records of a batch as processed, so that the next read begins after them.
    pub(super) fn finish(&self, batch: Batch) -> rusqlite::Result<()> {
        let Batch { next, last, .. } = batch;
        if let Some(file) = self.file.get() {
            forget(file, last)?;
        }
        *self.next.lock().unwrap_or_else(PoisonError::into_inner) = Some(next);
        Ok(())
    }
}

fn switch_on(database: &Database) -> Result<(), String> {
    let table = parsed(&json!({ "TableName": TABLE }), |request| database.describe_table(request))?;
    if table["Table"]["StreamSpecification"]["StreamEnabled"] == true {
        return Ok(());
    }
    let stream = json!({ "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" });
    let update = json!({ "TableName": TABLE, "StreamSpecification": stream });
    parsed(&update, |request| database.update_table(request)).map(drop)
}

/// Calls the engine with JSON, because the fields of its types are private.
fn parsed<I, O, E>(request: &Value, call: impl FnOnce(I) -> Result<O, E>) -> Result<Value, String>
where
    I: serde::de::DeserializeOwned,
    O: serde::Serialize,
    E: std::fmt::Display,
{
    let request = serde_json::from_value(request.clone()).map_err(|error| error.to_string())?;
    let answer = call(request).map_err(|error| error.to_string())?;
    serde_json::to_value(answer).map_err(|error| error.to_string())
}

/// The records in the form in which Lambda receives them.
pub struct Batch {
    pub event: Value,
    next: String,
    /// The number of the last record, in the engine's internal form.
    last: i64,
}

/// Stores in a tag of the table whether other processes also use the table, and returns the
/// previous value.
pub(super) fn note_shared(database: &Database, is_shared: bool) -> Result<bool, String> {
    let table = parsed(&json!({ "TableName": TABLE }), |request| database.describe_table(request))?;
    let arn = &table["Table"]["TableArn"];
    let tags = parsed(&json!({ "ResourceArn": arn }), |request| database.list_tags_of_resource(request))?;
    let was_shared = tags["Tags"].as_array().is_some_and(|tags| tags.iter().any(|tag| tag["Key"] == SHARED));
    if is_shared && !was_shared {
        let tag = json!({ "ResourceArn": arn, "Tags": [{ "Key": SHARED, "Value": "1" }] });
        parsed(&tag, |request| database.tag_resource(request).map(|_| ()))?;
    } else if was_shared && !is_shared {
        let tag = json!({ "ResourceArn": arn, "TagKeys": [SHARED] });
        parsed(&tag, |request| database.untag_resource(request).map(|_| ()))?;
    }
    Ok(was_shared)
}

/// The number of a record in the engine's internal form, without the 10^20 that the engine adds in
/// its responses; `None` if `public` is malformed.
fn stored_number(public: &str) -> Option<i64> {
    let number: u128 = public.parse().ok()?;
    i64::try_from(number.checked_sub(100_000_000_000_000_000_000)?).ok()
}

fn first_iterator(database: &Database) -> Result<String, String> {
    let streams = parsed(&json!({ "TableName": TABLE }), |request| database.list_streams(request))?;
    let arn = streams["Streams"][0]["StreamArn"].as_str().ok_or("the table has no stream")?;
    let stream = parsed(&json!({ "StreamArn": arn }), |request| database.describe_stream(request))?;
    let shard = &stream["StreamDescription"]["Shards"][0]["ShardId"];
    let start = json!({ "StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON" });
    let iterator = parsed(&start, |request| database.get_shard_iterator(request))?;
    iterator["ShardIterator"].as_str().map(str::to_owned).ok_or_else(|| "the stream has no beginning".to_owned())
}

/// Opens a second connection to a database file.
fn connect(file: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(file)?;
    connection.busy_timeout(TIMEOUT)?;
    Ok(connection)
}

/// Creates the index of record numbers if it is missing in a file that the engine has opened.
pub(super) fn index(file: &Path) -> rusqlite::Result<()> {
    connect(file)?.execute_batch(INDEX)
}

fn forget(file: &Path, last: i64) -> rusqlite::Result<()> {
    let connection = connect(file)?;
    // If the machine crashes, a deletion may be lost, which does no harm: the records are read
    // again.
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    let delete = "DELETE FROM _stream_records WHERE table_name = ?1 AND CAST(sequence_number AS INTEGER) <= ?2";
    connection.execute(delete, rusqlite::params![TABLE, last]).map(drop)
}
