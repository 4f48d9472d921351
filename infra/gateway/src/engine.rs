//! The embedded DynamoDB engine behind the client of AWS: an HTTP connector that hands requests to the engine in this process.
//!
//! Everything above the connector is the code path of AWS: serialisation, signature, retries, errors. Nothing goes through a socket. Writes run on
//! the blocking threads, as they wait for each other and for the disk.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use aws::{Endpoint, Service};
use aws_sdk_dynamodb::operation::describe_table::DescribeTableInput;
use aws_sdk_dynamodb::operation::update_table::UpdateTableInput;
use aws_sdk_dynamodb::types::{StreamSpecification, StreamViewType};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use dynoxide::actions::transact_write_items::TransactWriteItemsRequest;
use dynoxide::{Database, DynoxideError};
use serde::de::DeserializeOwned;
use store::trail::chain;
use store::{Store, table};
use tokio::sync::Notify;
use wire::entropy::Entropy;
use wire::id::ProjectId;

use crate::commits::Commits;
use crate::damage::{self, Damage};

/// The name of the table in an embedded engine.
pub const TABLE: &str = "gatelet";

/// An embedded engine with its table.
#[derive(Clone)]
pub struct Engine {
    database: Database,
    store: Store,
    outbox_changed: Arc<Notify>,
    trails: Arc<Trails>,
    commits: Arc<OnceLock<Commits>>,
}

/// The projects whose trails have new entries.
#[derive(Default)]
struct Trails {
    changed: Mutex<BTreeSet<ProjectId>>,
    notify: Notify,
}

impl Trails {
    fn add(&self, projects: BTreeSet<ProjectId>) {
        if !projects.is_empty() {
            self.changed.lock().unwrap_or_else(PoisonError::into_inner).extend(projects);
            self.notify.notify_one();
        }
    }
}

/// What is seen of every call: the operation and its body. Tests record with it, or let something go wrong.
pub trait Observe: Send + Sync {
    fn before(&self, _operation: &str, _body: &[u8]) -> Option<Fault> {
        None
    }

    /// `Some` makes each call take this time, on tokio's clock, and ask what it consumes: [`Self::after`] reads it from the answer.
    fn pace(&self) -> Option<Duration> {
        None
    }

    /// What the engine answered.
    fn after(&self, _operation: &str, _body: &[u8], _answer: &str) {}
}

/// What goes wrong with a call.
#[derive(Debug, Clone)]
pub enum Fault {
    /// It is refused with this status and body, and not made.
    Refused { status: u16, body: String },
    /// The connection breaks before the call arrives.
    NotMade,
    /// The call is made, and its answer is lost.
    AnswerLost,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the database {path} cannot be opened: {reason}")]
    Open { path: String, reason: String },
    #[error(transparent)]
    Damaged(#[from] Damage),
    #[error("the table cannot be created: {0}")]
    Table(#[from] store::Error),
}

impl Engine {
    /// Opens the engine on a file, or in memory, and creates the table on the first start.
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
        let (outbox_changed, trails, commits) = (Arc::new(Notify::new()), Arc::new(Trails::default()), Arc::new(OnceLock::new()));
        let connector = Connector {
            database: database.clone(),
            outbox_changed: Arc::clone(&outbox_changed),
            trails: Arc::clone(&trails),
            commits: Arc::clone(&commits),
            observer,
        };
        let endpoint = Endpoint::local(Service::DynamoDb, "http://embedded.invalid");
        let engine = Self { database, store: Store::at(endpoint, connector, TABLE, entropy.clone()), outbox_changed, trails, commits };
        if table::create(engine.store.client(), TABLE).await? {
            engine.stream(false).await?;
        }
        Ok(engine)
    }

    /// Turns the table's stream on or off, and says whether it was on; it is off unless other processes may read it.
    ///
    /// The connector wakes the worker of this process, so nobody reads the stream here, and the engine looks through all records of the
    /// last day at each write.
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

    /// From now on writes through this engine's store wait for the disk together ([`crate::commits`]). Those of others, who have the
    /// engine by [`Self::database`], would not wait for it at all, so this is not for an engine that is also served over HTTP.
    pub fn share_commits(&self, file: &Path) -> Result<(), Error> {
        let failed = |reason: String| Error::Open { path: file.display().to_string(), reason };
        let commits = Commits::of(file).map_err(|error| failed(error.to_string()))?;
        if self.commits.set(commits).is_ok() {
            // The engine's only way to `synchronous = NORMAL`; what else it sets is as it was.
            self.database.disable_bulk_loading().map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }

    pub fn store(&self) -> Store {
        self.store.clone()
    }

    /// Answers a call of another process: a status of HTTP, and the body.
    pub(crate) async fn call(&self, operation: &str, body: Bytes) -> (u16, String) {
        let (touches_outbox, trails) = (touches_outbox(operation, &body), trails_of(operation, &body));
        let (database, operation) = (self.database.clone(), operation.to_owned());
        let answer = tokio::task::spawn_blocking(move || dispatch(&database, &operation, &body, true)).await;
        match answer.unwrap_or_else(|error| Err(DynoxideError::InternalServerError(error.to_string()))) {
            Ok(body) => {
                if touches_outbox {
                    self.outbox_changed.notify_one();
                }
                self.trails.add(trails);
                (200, body)
            }
            Err(error) => (error.status_code(), error.to_json()),
        }
    }

    /// The engine itself, for tests.
    pub fn database(&self) -> Database {
        self.database.clone()
    }

    /// Deletes what has expired, page by page so that requests need not wait; says how many items.
    pub async fn expire(&self) -> Result<usize, store::Error> {
        let (database, refused) = (self.database.clone(), store::Error::Refused);
        let deleted = tokio::task::spawn_blocking(move || database.sweep_ttl()).await.map_err(|error| refused(error.to_string()))?;
        deleted.map_err(|error| refused(error.to_string()))
    }

    /// Waits until an entry of a trail was written.
    pub async fn trail_changed(&self) {
        self.trails.notify.notified().await;
    }

    /// The projects whose trails have new entries since this was last asked.
    pub fn changed_trails(&self) -> BTreeSet<ProjectId> {
        std::mem::take(&mut *self.trails.changed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Waits until an entry of the outbox was written.
    pub async fn outbox_changed(&self) {
        self.outbox_changed.notified().await;
    }
}

#[derive(Clone)]
struct Connector {
    database: Database,
    outbox_changed: Arc<Notify>,
    trails: Arc<Trails>,
    commits: Arc<OnceLock<Commits>>,
    observer: Option<Arc<dyn Observe>>,
}

impl std::fmt::Debug for Connector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Connector")
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let connector = self.clone();
        HttpConnectorFuture::new(async move {
            let target = request.headers().get("x-amz-target").unwrap_or_default();
            let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
            let mut body = request.body().bytes().unwrap_or_default().to_vec();
            let fault = connector.observer.as_ref().and_then(|observer| observer.before(&operation, &body));
            match &fault {
                Some(Fault::Refused { status, body }) => return response(*status, body.clone()),
                Some(Fault::NotMade) => return Err(broken()),
                Some(Fault::AnswerLost) | None => {}
            }
            if let Some(pace) = connector.observer.as_ref().and_then(|observer| observer.pace()) {
                tokio::time::sleep(pace).await;
                body = asking_for_capacity(&body)?;
            }
            let sent = body.clone();
            let (reads, touches_outbox) = (reads(&operation), touches_outbox(&operation, &body));
            let trails = trails_of(&operation, &body);
            let database = connector.database.clone();
            let loses_answers = connector.observer.is_some();
            let result = if reads {
                dispatch(&database, &operation, &body, loses_answers)
            } else {
                let task = tokio::task::spawn_blocking({
                    let operation = operation.clone();
                    move || dispatch(&database, &operation, &body, loses_answers)
                });
                let result = task.await.map_err(|error| ConnectorError::other(error.into(), None))?;
                if let (Some(commits), Ok(_)) = (connector.commits.get(), &result) {
                    // Nobody knows then whether the write will be there.
                    commits.flush().await.map_err(|error| ConnectorError::io(error.into()))?;
                }
                result
            };
            if touches_outbox && result.is_ok() {
                connector.outbox_changed.notify_one();
            }
            if result.is_ok() {
                connector.trails.add(trails);
            }
            match result {
                _ if fault.is_some() => Err(broken()),
                Ok(body) => {
                    if let Some(observer) = &connector.observer {
                        observer.after(&operation, &sent, &body);
                    }
                    response(200, body)
                }
                Err(error) => response(error.status_code(), error.to_json()),
            }
        })
    }
}

fn reads(operation: &str) -> bool {
    matches!(
        operation,
        "GetItem" | "BatchGetItem" | "TransactGetItems" | "Query" | "Scan" | "DescribeTable" | "DescribeTimeToLive" | "ListTables"
    )
}

/// Whether an operation writes to a partition of the outbox, as far as its body tells.
fn touches_outbox(operation: &str, body: &[u8]) -> bool {
    !reads(operation) && body.windows(3).any(|window| window == b"\"M#")
}

/// The projects to whose trails an operation writes, as far as its body tells.
fn trails_of(operation: &str, body: &[u8]) -> BTreeSet<ProjectId> {
    if reads(operation) {
        return BTreeSet::new();
    }
    let text = String::from_utf8_lossy(body);
    text.split('"').filter(|text| text.starts_with("P#")).filter_map(chain::project_of).collect()
}

fn asking_for_capacity(body: &[u8]) -> Result<Vec<u8>, ConnectorError> {
    let other = |error: serde_json::Error| ConnectorError::other(Box::new(error), None);
    let mut request: serde_json::Value = serde_json::from_slice(body).map_err(other)?;
    request["ReturnConsumedCapacity"] = "TOTAL".into();
    serde_json::to_vec(&request).map_err(other)
}

fn broken() -> ConnectorError {
    ConnectorError::io(std::io::Error::from(std::io::ErrorKind::ConnectionReset).into())
}

fn response(status: u16, body: String) -> Result<HttpResponse, ConnectorError> {
    let status = status.try_into().map_err(|error| ConnectorError::other(Box::new(error), None))?;
    let mut response = HttpResponse::new(status, SdkBody::from(body));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    Ok(response)
}

/// Runs one operation of DynamoDB's API on the engine.
///
/// The token of a transaction, by which one is not made twice whose answer was lost, is worth its price only where that can happen: the
/// engine copies and digests the whole request for it, and keeps each for ten minutes.
pub fn dispatch(database: &Database, operation: &str, body: &[u8], loses_answers: bool) -> Result<String, DynoxideError> {
    match operation {
        "GetItem" => answer(body, |request| database.get_item(request)),
        "BatchGetItem" => answer(body, |request| database.batch_get_item(request)),
        "Query" => answer(body, |request| database.query(request)),
        "Scan" => answer(body, |request| database.scan(request)),
        "PutItem" => answer(body, |request| database.put_item(request)),
        "UpdateItem" => answer(body, |request| database.update_item(request)),
        "DeleteItem" => answer(body, |request| database.delete_item(request)),
        "TransactWriteItems" => answer(body, |mut request: TransactWriteItemsRequest| {
            request.client_request_token = request.client_request_token.filter(|_| loses_answers);
            database.transact_write_items(request)
        }),
        "TransactGetItems" => answer(body, |request| database.transact_get_items(request)),
        "BatchWriteItem" => answer(body, |request| database.batch_write_item(request)),
        "CreateTable" => answer(body, |request| database.create_table(request)),
        "UpdateTable" => answer(body, |request| database.update_table(request)),
        "DescribeTable" => answer(body, |request| database.describe_table(request)),
        "ListTables" => answer(body, |request| database.list_tables(request)),
        "UpdateTimeToLive" => answer(body, |request| database.update_time_to_live(request)),
        "DescribeTimeToLive" => answer(body, |request| database.describe_time_to_live(request)),
        "ListStreams" => answer(body, |request| database.list_streams(request)),
        "DescribeStream" => answer(body, |request| database.describe_stream(request)),
        "GetShardIterator" => answer(body, |request| database.get_shard_iterator(request)),
        "GetRecords" => answer(body, |request| database.get_records(request)),
        _ => Err(DynoxideError::ValidationException(format!("{operation} is not an operation that Gatelet uses"))),
    }
}

fn answer<Q: DeserializeOwned, A: serde::Serialize>(
    body: &[u8],
    run: impl FnOnce(Q) -> Result<A, DynoxideError>,
) -> Result<String, DynoxideError> {
    let request = serde_json::from_slice(body).map_err(|error| DynoxideError::SerializationException(error.to_string()))?;
    serde_json::to_string(&run(request)?).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
