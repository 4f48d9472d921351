//! What every answer of interface A gets: validators, cache rules, and any origin may read it.

use std::any::Any;

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt as _;

use super::Problem;
use crate::crypto::digest::Digest;

const CACHE: &str = "public, max-age=60, stale-while-revalidate=600";

/// Wraps an operation of interface A.
pub async fn layer(request: Request, next: Next) -> Response {
    let (wanted, is_head) = (request.headers().get(header::IF_NONE_MATCH).cloned(), request.method() == Method::HEAD);
    let mut request = request;
    // The validator of HEAD is that of GET, so the body is made and left out.
    if is_head {
        *request.method_mut() = Method::GET;
    }
    let response = next.run(request).await;
    let mut response =
        if response.status() == StatusCode::OK { with_validator(response, wanted.as_ref()).await } else { uncached(response) };
    response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response.headers_mut().insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("etag"));
    response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_head {
        let (parts, _) = response.into_parts();
        response = Response::from_parts(parts, Body::empty());
    }
    response
}

async fn with_validator(response: Response, wanted: Option<&HeaderValue>) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else { return Problem::InternalError.answer("") };
    let etag = format!("\"{}\"", Digest::of_bytes(&body).as_str());
    let fresh = wanted.and_then(|wanted| wanted.to_str().ok()).is_some_and(|wanted| names(wanted, &etag));
    set_cache(&mut parts.headers, &etag);
    if fresh {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_TYPE);
        return Response::from_parts(parts, Body::empty());
    }
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    Response::from_parts(parts, Body::from(body))
}

fn set_cache(headers: &mut HeaderMap, etag: &str) {
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(CACHE));
    if let Ok(value) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, value);
    }
}

/// Whether an `If-None-Match` names this validator; weak comparison (RFC 9110 §13.1.2).
fn names(wanted: &str, etag: &str) -> bool {
    wanted.split(',').map(str::trim).any(|name| name == "*" || name.trim_start_matches("W/") == etag)
}

fn uncached(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The answer to a handler that panicked.
pub fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("an operation panicked");
    Problem::InternalError.answer("").into_response()
}
