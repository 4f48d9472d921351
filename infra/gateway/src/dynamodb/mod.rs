//! `--dynamodb-port`: serves the embedded engine to other processes on this machine, such as
//! functions under `cargo lambda watch`.
//!
//! The service's rules do not protect direct access to the table, so a request must
//!
//! - come over a connection from loopback, and name a loopback host in `Host`. A web page whose
//!   foreign name resolves to this machine sends that name (DNS rebinding);
//! - not come from a web page: requests with `Origin` are rejected, and responses contain no CORS
//!   headers;
//! - be signed with this gateway's credentials ([`signature`]), which other users of the machine do
//!   not have.

mod credentials;
mod signature;

use std::net::SocketAddr;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{ConnectInfo, Request, State};
use axum::response::{IntoResponse as _, Response};
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};
use serde_json::json;
use wire::clock::Clock;

pub(crate) use credentials::Credentials;

use crate::engine::Engine;
use crate::loopback::is_loopback_host;

/// The maximum size of a request, in bytes, as in DynamoDB.
const MAX_BODY: usize = 16 * 1024 * 1024;

#[derive(Clone)]
struct Table {
    engine: Engine,
    credentials: Credentials,
}

/// Serves the engine through DynamoDB's HTTP interface.
pub(crate) fn router(engine: Engine, credentials: Credentials) -> Router {
    Router::new().fallback(answer).with_state(Table { engine, credentials })
}

async fn answer(State(table): State<Table>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    if let Err(reason) = check(&parts) {
        return (StatusCode::FORBIDDEN, format!("{reason}\n")).into_response();
    }
    if parts.method != Method::POST || parts.uri.path() != "/" || parts.uri.query().is_some() {
        return StatusCode::NOT_FOUND.into_response();
    }
    let Ok(body) = to_bytes(body, MAX_BODY).await else { return StatusCode::PAYLOAD_TOO_LARGE.into_response() };
    // Clients sign with the machine's time, which may differ from the gateway's clock.
    if let Err(refusal) = table.credentials.verify(&parts, &body, Clock::system().now()) {
        let problem = json!({ "__type": format!("com.amazon.coral.service#{}", refusal.code()), "message": refusal.to_string() });
        return answered(400, problem.to_string());
    }
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default();
    let (status, body) = table.engine.call(operation, body).await;
    answered(status, body)
}

fn answered(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, "application/x-amz-json-1.0")], body).into_response()
}

/// Rejects all requests except those from programs on this machine.
fn check(parts: &Parts) -> Result<(), &'static str> {
    let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>();
    let is_named = is_loopback_name(&parts.headers) && parts.uri.host().is_none_or(is_loopback_host);
    if !peer.is_some_and(|peer| peer.0.ip().to_canonical().is_loopback()) || !is_named {
        return Err("The table is only available on this machine, at 127.0.0.1 or localhost.");
    }
    if parts.headers.contains_key(header::ORIGIN) {
        return Err("The table is not available to web pages.");
    }
    Ok(())
}

/// Whether the request has one `Host` header, which names a loopback host.
fn is_loopback_name(headers: &HeaderMap) -> bool {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    host.is_some_and(is_loopback_host) && hosts.next().is_none()
}
