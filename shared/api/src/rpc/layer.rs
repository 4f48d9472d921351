//! The layer around the operations for agents: a time limit for reading the table, and headers.

use std::any::Any;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::Value;
use store::table::retry;

use crate::rpc::reply::Reply;

/// Wraps an operation for agents.
pub async fn layer(request: Request, next: Next) -> Response {
    let origin = request.headers().get(header::ORIGIN).cloned();
    let mut response = retry::within(retry::BUDGET, next.run(request)).await;
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
    // Pages of a refused origin must not be able to read the refusal either.
    if let Some(origin) = origin.filter(|_| response.status() != StatusCode::FORBIDDEN) {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}

/// The response if a handler panics.
pub fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("an operation panicked");
    Reply::failed(&Value::Null).into_response()
}
