//! An S3 bucket, whose objects are put, read and deleted with one request each.

use std::time::Duration;

use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_types::body::SdkBody;
use tokio::time::timeout;

use crate::{Client, ExchangeError};

/// The time limit for a request. An image has at most a few megabytes, but the operator's
/// connection may be slow.
const TIMEOUT: Duration = Duration::from_mins(5);

/// A bucket; clones share its connections.
#[derive(Debug, Clone)]
pub struct Bucket(Client);

/// Why a request failed.
#[derive(Debug)]
pub enum Error {
    /// S3 did not send a complete response, or responded with status 429 or 5xx; the request may be
    /// repeated.
    Unavailable(String),
    /// S3 refused the request, or the request is invalid or cannot be signed.
    Refused(String),
}

impl Bucket {
    /// The bucket at the endpoint of the client ([`crate::Endpoint::for_bucket`]).
    pub fn new(client: Client) -> Self {
        Self(client)
    }

    /// Puts an object, replacing any existing one. Readers of the object also get its media type
    /// and cache rule.
    pub async fn put(&self, key: &str, media_type: &'static str, cache: &'static str, bytes: Vec<u8>) -> Result<(), Error> {
        let mut request = request("PUT", key, SdkBody::from(bytes))?;
        request.headers_mut().insert("content-type", media_type);
        request.headers_mut().insert("cache-control", cache);
        succeeded(&self.send(request).await?, "put", key)
    }

    /// The bytes of an object; `None` if the object does not exist or S3 denies access to it. If
    /// the caller may not list objects, S3 responds with `AccessDenied` for an object that does not
    /// exist.
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        let answer = self.send(request("GET", key, SdkBody::empty())?).await?;
        if answer.status().as_u16() == 404 || code(&answer) == Some("AccessDenied") {
            return Ok(None);
        }
        succeeded(&answer, "read", key)?;
        Ok(answer.body().bytes().map(<[u8]>::to_vec))
    }

    /// Deletes an object, if it exists.
    pub async fn delete(&self, key: &str) -> Result<(), Error> {
        succeeded(&self.send(request("DELETE", key, SdkBody::empty())?).await?, "deleted", key)
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, Error> {
        let late = |_| Error::Unavailable(format!("no answer within {} s", TIMEOUT.as_secs()));
        timeout(TIMEOUT, self.0.exchange(request)).await.map_err(late)?.map_err(|error| match error {
            ExchangeError::Request(error) => Error::Refused(error.to_string()),
            ExchangeError::Connector(error) => Error::Unavailable(format!("{error:?}")),
            ExchangeError::Body(error, _) => Error::Unavailable(error.to_string()),
        })
    }
}

/// A request for an object, whose key must not contain characters that need encoding.
fn request(method: &str, key: &str, body: SdkBody) -> Result<HttpRequest, Error> {
    let mut request = HttpRequest::new(body);
    let invalid = |error: &dyn std::fmt::Display| Error::Refused(error.to_string());
    request.set_method(method).map_err(|error| invalid(&error))?;
    request.set_uri(format!("/{key}")).map_err(|error| invalid(&error))?;
    Ok(request)
}

/// The error code in the body of a response.
fn code(answer: &HttpResponse) -> Option<&str> {
    let body = std::str::from_utf8(answer.body().bytes()?).ok()?;
    Some(body.split_once("<Code>")?.1.split_once("</Code>")?.0)
}

fn succeeded(answer: &HttpResponse, done: &str, key: &str) -> Result<(), Error> {
    let status = answer.status().as_u16();
    let message = || format!("{key} was not {done}: {status} {}", code(answer).unwrap_or_default());
    match status {
        200..=299 => Ok(()),
        429 | 500..=599 => Err(Error::Unavailable(message())),
        _ => Err(Error::Refused(message())),
    }
}
