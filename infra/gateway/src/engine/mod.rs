//! The embedded DynamoDB engine behind the AWS client: an HTTP connector passes the client's
//! requests to the engine in this process.
//!
//! Everything above the connector (serialization, retries and errors) is the same code as on AWS.
//! There are no sockets. Most reads are served directly without a request (`direct`). Writes run on
//! blocking threads, because they wait for each other and for the disk.

mod calls;
mod connector;
mod direct;
mod dispatch;
mod feed;
mod observe;
mod recent;
#[cfg(test)]
mod tests;
mod trails;
mod writers;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock, PoisonError};

use aws_sdk_dynamodb::operation::describe_table::DescribeTableInput;
use aws_sdk_dynamodb::operation::update_table::UpdateTableInput;
use aws_sdk_dynamodb::types::{StreamSpecification, StreamViewType};
use bytes::Bytes;
use calls::{WrittenItems, reads, touches_outbox, trails_of, written};
use connector::Connector;
use direct::DirectReader;
use dynoxide::{Database, DynoxideError};
use feed::{Feed, note_shared};
use recent::RecentReads;
use store::{Store, table};
use tokio::sync::Notify;
use trails::Trails;
use wire::entropy::Entropy;
use wire::id::ProjectId;
use writers::Writers;

pub use self::dispatch::dispatch;
pub use self::feed::{Batch, INDEX, TABLE};
pub use self::observe::{InjectedError, Observe};
use crate::commits::Commits;
use crate::damage::{self, Damage};

/// An embedded engine and its table.
#[derive(Clone)]
pub struct Engine {
    database: Database,
    store: Store,
    outbox_changed: Arc<Notify>,
    trails: Arc<Trails>,
    commits: Arc<OnceLock<Commits>>,
    feed: Arc<Feed>,
    recent: Arc<RecentReads>,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot open the database {path}: {reason}")]
    Open { path: String, reason: String },
    #[error(transparent)]
    Damaged(#[from] Damage),
    #[error("cannot create the table: {0}")]
    Table(#[from] store::Error),
}

impl Engine {
    /// Opens the engine on a file, or in memory, and creates the table at the first start.
    pub async fn open(file: Option<&Path>, entropy: &Entropy, observer: Option<Arc<dyn Observe>>) -> Result<Self, Error> {
        if let Some(file) = file {
            damage::examine(file)?;
        }
        let path = file.map(|file| file.display().to_string());
        let database = match &path {
            Some(path) => Database::new(path),
            None => Database::memory(),
        };
        let failed = |error: DynoxideError| Error::Open { path: path.clone().unwrap_or_default(), reason: error.to_string() };
        let database = database.map_err(failed)?;
        if let Some(file) = file {
            feed::index(file).map_err(|error| Error::Open { path: file.display().to_string(), reason: error.to_string() })?;
        }
        let engine = Self::on(database, file, entropy, observer);
        engine.create_table().await?;
        Ok(engine)
    }

    /// An engine on a database in memory, for tests that also use the database directly. The
    /// database must have the table before the engine is used.
    pub fn over(database: Database, entropy: &Entropy, observer: Option<Arc<dyn Observe>>) -> Self {
        Self::on(database, None, entropy, observer)
    }

    fn on(database: Database, file: Option<&Path>, entropy: &Entropy, observer: Option<Arc<dyn Observe>>) -> Self {
        let (outbox_changed, trails, commits) = (Arc::new(Notify::new()), Arc::new(Trails::default()), Arc::new(OnceLock::new()));
        let (feed, recent) = (Arc::new(Feed::default()), Arc::new(RecentReads::default()));
        let is_observed = observer.is_some();
        let connector = Connector {
            database: database.clone(),
            outbox_changed: Arc::clone(&outbox_changed),
            trails: Arc::clone(&trails),
            commits: Arc::clone(&commits),
            feed: Arc::clone(&feed),
            recent: Arc::clone(&recent),
            file: file.map(Arc::from),
            observer,
        };
        let mut store = Store::in_process(connector, TABLE, entropy.clone());
        // Observers must see every call, and direct reads would bypass them.
        if !is_observed {
            store = store.answered_by(Arc::new(DirectReader::new(database.clone(), Arc::clone(&recent))));
        }
        if file.is_none() {
            recent.begin(None);
        }
        Self { database, store, outbox_changed, trails, commits, feed, recent }
    }

    /// Creates the table if it does not exist.
    pub async fn create_table(&self) -> Result<(), store::Error> {
        if table::create(self.store.client(), TABLE).await? {
            self.stream(false).await?;
        }
        Ok(())
    }

    /// Whether a write is running, even if nothing waits for its result any more.
    pub fn is_writing(&self) -> bool {
        self.recent.is_writing()
    }

    /// Whether this process reads the stream and keeps its position.
    pub fn has_feed(&self) -> bool {
        self.feed.is_on()
    }

    /// Turns the table's stream on or off, and returns whether it was on.
    ///
    /// The stream is on only while other processes can read it, or if a project has had a webhook
    /// endpoint since the engine was opened (`feed`). While the stream is on, each write also
    /// writes a record. If the database is in memory, the engine then scans all records at each
    /// write.
    pub async fn stream(&self, enabled: bool) -> Result<bool, store::Error> {
        let refused = |error: String| store::Error::Refused(error);
        let client = self.store.client();
        let table = client.call(DescribeTableInput::builder().table_name(TABLE)).await.map_err(|error| refused(format!("{error:?}")))?;
        let is_enabled = table.table.and_then(|table| table.stream_specification).is_some_and(|stream| stream.stream_enabled);
        if is_enabled == enabled {
            return Ok(is_enabled);
        }
        let stream = StreamSpecification::builder().stream_enabled(enabled);
        let stream = if enabled { stream.stream_view_type(StreamViewType::NewAndOldImages) } else { stream };
        let update = UpdateTableInput::builder().table_name(TABLE);
        let update = update.stream_specification(stream.build().map_err(|error| refused(error.to_string()))?);
        client.call(update).await.map(|_| is_enabled).map_err(|error| refused(format!("{error:?}")))
    }

    /// Makes writes through the engine's store share flushes of the disk (`crate::commits`). Writes
    /// that bypass the store, through [`Self::database`] or over HTTP, no longer wait for the disk,
    /// so do not call this method for an engine that is also served over HTTP.
    pub fn share_commits(&self, file: &Path) -> Result<(), Error> {
        let failed = |reason: String| Error::Open { path: file.display().to_string(), reason };
        let commits = Commits::open(file).map_err(|error| failed(error.to_string()))?;
        if self.commits.set(commits).is_ok() {
            // The engine provides no other way to set `synchronous = NORMAL`; its other settings
            // are unchanged.
            self.database.disable_bulk_loading().map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }

    /// Keeps the items that the store reads, so that they can be read again faster. Use this only
    /// in the process that serves the file, of which there is one at a time. Other processes
    /// announce their writes to that process.
    pub fn keep_items(&self, file: &Path) -> Result<(), Error> {
        let writers = Writers::watch(file).map_err(|error| Error::Open { path: file.display().to_string(), reason: error.to_string() })?;
        self.recent.begin(Some(writers));
        Ok(())
    }

    /// Frees the memory of kept items ([`Self::keep_items`]) that have expired.
    pub fn release(&self) {
        self.recent.forget_expired();
    }

    /// Forgets all kept items, for tests that replace the database's contents.
    pub fn forget(&self) {
        drop(self.recent.write(WrittenItems::Any));
    }

    pub fn store(&self) -> Store {
        self.store.clone()
    }

    /// The engine with the store of a function, which keeps the trail entries of new sessions in
    /// the sessions. For tests.
    #[must_use]
    pub fn carrying_entries(self) -> Self {
        Self { store: self.store.carrying_entries(), ..self }
    }

    /// Executes a call from another process; returns the HTTP status and the body of the response.
    pub(crate) async fn call(&self, operation: &str, body: Bytes) -> (u16, String) {
        let (touches_outbox, trails) = (touches_outbox(operation, &body), trails_of(operation, &body));
        let (database, operation, feed) = (self.database.clone(), operation.to_owned(), Arc::clone(&self.feed));
        let writes = !reads(&operation);
        let write = self.recent.write(written(&operation, &body));
        let answer = tokio::task::spawn_blocking(move || {
            let _write = write;
            if writes {
                feed.prepare(&database, &body).map_err(DynoxideError::InternalServerError)?;
            }
            dispatch(&database, &operation, &body, true)
        })
        .await;
        match answer.unwrap_or_else(|error| Err(DynoxideError::InternalServerError(error.to_string()))) {
            Ok(body) => {
                if touches_outbox {
                    self.outbox_changed.notify_one();
                }
                self.trails.add(trails);
                if writes {
                    self.feed.written();
                }
                (200, body)
            }
            Err(error) => (error.status_code(), error.to_json()),
        }
    }

    /// Direct access to the engine, for tests. Once the store has read an item, its reads do not
    /// see changes that bypass the store.
    pub fn database(&self) -> Database {
        self.database.clone()
    }

    /// Deletes expired items page by page, so that requests are not blocked; returns the number of
    /// deleted items.
    pub async fn expire(&self) -> Result<usize, store::Error> {
        let (database, refused, write) = (self.database.clone(), store::Error::Refused, self.recent.write(WrittenItems::Any));
        let deleted = tokio::task::spawn_blocking(move || {
            let _write = write;
            database.sweep_ttl()
        })
        .await
        .map_err(|error| refused(error.to_string()))?;
        deleted.map_err(|error| refused(error.to_string()))
    }

    /// Waits until a call that may have written a trail entry succeeds.
    pub async fn trail_changed(&self) {
        self.trails.notify.notified().await;
    }

    /// The projects whose trails may have entries that are newer than the last call of this method.
    pub fn changed_trails(&self) -> BTreeSet<ProjectId> {
        std::mem::take(&mut *self.trails.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until a call that may have written an outbox entry succeeds.
    pub async fn outbox_changed(&self) {
        self.outbox_changed.notified().await;
    }

    /// Turns the stream on if a project has a webhook endpoint; otherwise, the first call that
    /// writes an endpoint turns it on. If there is a file, processed changes are deleted from it.
    pub async fn open_feed(&self, file: Option<&Path>) -> Result<(), store::Error> {
        let is_on = self.store.has_webhooks().await?;
        self.feed.open(&self.database, file, is_on).map_err(store::Error::Refused)
    }

    /// Records whether the engine is shared with other processes, and returns the previous value.
    /// The state of the stream does not show whether the engine is shared, because a webhook
    /// endpoint also switches the stream on.
    pub fn share(&self, is_shared: bool) -> Result<bool, store::Error> {
        note_shared(&self.database, is_shared).map_err(store::Error::Refused)
    }

    /// Waits until something is written while the stream is on.
    pub async fn fed(&self) {
        self.feed.changed().await;
    }

    /// The next changes; `None` if there are none. Returns the same changes until [`Self::finish`]
    /// is called.
    pub async fn changes(&self) -> Result<Option<Batch>, store::Error> {
        let (database, feed) = (self.database.clone(), Arc::clone(&self.feed));
        let read = tokio::task::spawn_blocking(move || feed.read(&database)).await;
        read.map_err(|error| store::Error::Refused(error.to_string()))?.map_err(store::Error::Refused)
    }

    /// Marks the changes of a batch as processed, so that the next read begins after them.
    pub async fn finish(&self, batch: Batch) -> Result<(), store::Error> {
        let feed = Arc::clone(&self.feed);
        let finished = tokio::task::spawn_blocking(move || feed.finish(batch)).await;
        finished.map_err(|error| store::Error::Refused(error.to_string()))?.map_err(|error| store::Error::Unavailable(error.to_string()))
    }
}
