//! Shapes the responses of the content API: errors in the form of this API, validators, cache
//! rules, and CORS for any origin.

use std::any::Any;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use crypto::digest::Digest;
use flows::App;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use store::table::retry;

use crate::content::error::Problem;

const CACHE: &str = "public, max-age=60, stale-while-revalidate=600";

/// Wraps an operation of the content API.
pub async fn layer(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let (wanted, is_head, is_preflight) =
        (Validators::of(request.headers()), request.method() == Method::HEAD, request.method() == Method::OPTIONS);
    // The response to HEAD has the `ETag` of the response to GET, so the body is built and then
    // dropped.
    if is_head {
        *request.method_mut() = Method::GET;
    }
    let response = retry::within(retry::BUDGET, next.run(request)).await;
    if is_preflight && response.status().is_success() {
        return response;
    }
    let mut response = answer(response, &wanted, &app.settings.site_url).await;
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("etag, link"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if is_head {
        *response.body_mut() = Body::empty();
    }
    response
}

/// The response when a handler panics.
pub fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    tracing::error!("an operation panicked");
    Problem::InternalError.into_response()
}

async fn answer(response: Response, wanted: &Validators, site_url: &str) -> Response {
    let problem = response.extensions().get::<Problem>().copied().or_else(|| Problem::from_status(response.status()));
    match problem {
        Some(problem) => uncached(with_methods(problem.answer(site_url), response.headers().get(header::ALLOW))),
        None if response.status() == StatusCode::OK => with_validator(response, wanted, site_url).await,
        None => uncached(response),
    }
}

/// Copies the `Allow` header from the original response, if there is one.
fn with_methods(mut response: Response, allowed: Option<&HeaderValue>) -> Response {
    if let Some(allowed) = allowed {
        response.headers_mut().insert(header::ALLOW, allowed.clone());
    }
    response
}

async fn with_validator(response: Response, wanted: &Validators, site_url: &str) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        return uncached(Problem::InternalError.answer(site_url));
    };
    let etag = format!("\"{}\"", Digest::from_bytes(&body).as_str());
    set_cache(&mut parts.headers, &etag);
    if wanted.is_current(&etag, parts.headers.get(header::LAST_MODIFIED)) {
        parts.status = StatusCode::NOT_MODIFIED;
        parts.headers.remove(header::CONTENT_TYPE);
        return Response::from_parts(parts, Body::empty());
    }
    // `Content-Length` is set here because a response to HEAD has this header but not a body.
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(body.len()));
    Response::from_parts(parts, Body::from(body))
}

/// Sets the validator, and the default cache rule unless the response has its own.
fn set_cache(headers: &mut HeaderMap, etag: &str) {
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static(CACHE));
    if let Ok(value) = HeaderValue::from_str(etag) {
        headers.insert(header::ETAG, value);
    }
}

/// The validators of the caller's cached response.
#[derive(Debug, Default)]
struct Validators {
    /// The validators in `If-None-Match`, if the request has that header; repeated headers form one
    /// list (RFC 9110 §5.3).
    tags: Option<String>,
    /// The time in `If-Modified-Since`; `None` if the header is absent or malformed.
    since: Option<Timestamp>,
}

impl Validators {
    fn of(headers: &HeaderMap) -> Self {
        let tags = headers.contains_key(header::IF_NONE_MATCH).then(|| {
            let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
            lists.collect::<Vec<_>>().join(",")
        });
        Self { tags, since: headers.get(header::IF_MODIFIED_SINCE).and_then(time) }
    }

    /// Whether the caller's cached response is current. The time is compared only if
    /// `If-None-Match` is absent (RFC 9110 §13.1.3).
    fn is_current(&self, etag: &str, modified: Option<&HeaderValue>) -> bool {
        match &self.tags {
            Some(tags) => names(tags, etag),
            None => self.since.zip(modified.and_then(time)).is_some_and(|(since, modified)| modified <= since),
        }
    }
}

/// The time in a header; `None` if it is malformed.
fn time(value: &HeaderValue) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(value.as_bytes()).ok()
}

/// Whether the list `wanted` is `*` or contains the validator `etag`, by weak comparison (RFC 9110
/// §13.1.2).
fn names(wanted: &str, etag: &str) -> bool {
    wanted.split(',').map(str::trim).any(|name| name == "*" || name.strip_prefix("W/").unwrap_or(name) == etag)
}

/// Forbids caching a response whose status is not 200 or 304: the cause of an error may disappear
/// at any moment, for example when a missing app is published.
fn uncached(mut response: Response) -> Response {
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weak_and_strong_validators_are_found_in_a_list() {
        for wanted in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*", "\"b\",W/\"a\""] {
            assert!(names(wanted, "\"a\""), "{wanted}");
        }
        for wanted in ["", "a", "\"A\"", "\"b\"", "\"a", "W/W/\"a\""] {
            assert!(!names(wanted, "\"a\""), "{wanted}");
        }
    }

    #[tokio::test]
    async fn a_bare_error_status_gets_a_body_in_the_form_of_this_api() {
        for (status, code) in [(500, "internal_error"), (404, "route_not_found"), (405, "method_not_allowed")] {
            let bare = StatusCode::from_u16(status).unwrap().into_response();
            let answer = answer(bare, &Validators::default(), "https://example.com").await;
            assert_eq!(answer.status(), status);
            assert_eq!(answer.headers()[header::CACHE_CONTROL], "no-store");
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["error"]["code"], code);
        }
    }

    #[tokio::test]
    async fn a_cached_response_is_not_sent_again() {
        let made = || "{}".into_response();
        let first = answer(made(), &Validators::default(), "").await;
        let etag = first.headers()[header::ETAG].to_str().unwrap().to_owned();
        assert_eq!((first.status().as_u16(), first.headers()[header::CACHE_CONTROL].to_str().unwrap()), (200, CACHE));

        let second = answer(made(), &Validators { tags: Some(etag.clone()), since: None }, "").await;
        assert_eq!(second.status(), 304);
        assert_eq!(second.headers()[header::ETAG], etag.as_str());
        assert!(second.into_body().collect().await.unwrap().to_bytes().is_empty());
    }
}
