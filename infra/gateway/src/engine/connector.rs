//! The HTTP connector that passes requests to the engine.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_types::body::SdkBody;
use dynoxide::{Database, DynoxideError};
use tokio::sync::Notify;

use super::calls::{reads, touches_outbox, trails_of, written};
use super::dispatch::dispatch;
use super::feed::Feed;
use super::observe::{InjectedError, Observe};
use super::recent::RecentReads;
use super::trails::Trails;
use super::writers::announce;
use crate::commits::Commits;

#[derive(Clone)]
pub(super) struct Connector {
    pub(super) database: Database,
    pub(super) outbox_changed: Arc<Notify>,
    pub(super) trails: Arc<Trails>,
    pub(super) commits: Arc<OnceLock<Commits>>,
    pub(super) feed: Arc<Feed>,
    pub(super) recent: Arc<RecentReads>,
    /// The database file; `None` if the database is in memory.
    pub(super) file: Option<Arc<Path>>,
    pub(super) observer: Option<Arc<dyn Observe>>,
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
                Some(InjectedError::Refused { status, body }) => return response(*status, body.clone()),
                Some(InjectedError::NotMade) => return Err(broken()),
                Some(InjectedError::AnswerLost) | None => {}
            }
            if let Some(pace) = connector.observer.as_ref().and_then(|observer| observer.pace()) {
                tokio::time::sleep(pace).await;
                body = asking_for_capacity(&body)?;
            }
            let sent = body.clone();
            let (reads, touches_outbox) = (reads(&operation), touches_outbox(&operation, &body));
            let trails = trails_of(&operation, &body);
            let result = if reads {
                dispatch(&connector.database, &operation, &body, connector.observer.is_some())
            } else {
                connector.write(operation.clone(), body).await?
            };
            if touches_outbox && result.is_ok() {
                connector.outbox_changed.notify_one();
            }
            if result.is_ok() {
                connector.trails.add(trails);
                if !reads {
                    connector.feed.written();
                }
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

impl Connector {
    /// Executes a write, and waits until it is durable.
    async fn write(&self, operation: String, body: Vec<u8>) -> Result<Result<String, DynoxideError>, ConnectorError> {
        let write = self.recent.write(written(&operation, &body));
        let announces = self.file.clone().filter(|_| !self.recent.is_begun());
        let (database, feed, loses_answers) = (self.database.clone(), Arc::clone(&self.feed), self.observer.is_some());
        let task = tokio::task::spawn_blocking(move || {
            // Held until the write has ended, even if nothing waits for its result any more.
            let _write = write;
            let announced = announces.as_deref().map(announce).transpose();
            let _announced = announced.map_err(|error| DynoxideError::InternalServerError(error.to_string()))?;
            feed.prepare(&database, &body).map_err(DynoxideError::InternalServerError)?;
            dispatch(&database, &operation, &body, loses_answers)
        });
        let result = task.await.map_err(|error| ConnectorError::other(error.into(), None))?;
        if let (Some(commits), Ok(_)) = (self.commits.get(), &result) {
            // After a failed flush, it is unknown whether the write is durable.
            commits.flush().await.map_err(|error| ConnectorError::io(error.into()))?;
        }
        Ok(result)
    }
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
