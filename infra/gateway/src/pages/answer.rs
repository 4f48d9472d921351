//! The answers of pages: headers that let a browser do what a page needs and nothing else.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use crypto::digest::Digest;
use http::{HeaderName, HeaderValue, StatusCode, header};
use infra::pages::POLICY;

/// What a browser lets the HTML of an email do: show itself, with its pictures. It has neither scripts nor forms nor an origin.
const EMAIL_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src * data:; font-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'self'; sandbox allow-popups allow-popups-to-escape-sandbox";

/// A page, or the answer of a failure that is logged.
pub(super) fn page(status: StatusCode, html: anyhow::Result<String>) -> Response {
    match html {
        Ok(html) => {
            let etag = format!("\"{}\"", Digest::of(&html).as_str());
            let mut response = (status, protected(POLICY), Html(html)).into_response();
            if let (StatusCode::OK, Ok(etag)) = (status, HeaderValue::from_str(&etag)) {
                response.headers_mut().insert(header::ETAG, etag);
            }
            response
        }
        Err(error) => failed(&error),
    }
}

pub(super) fn failed(error: &anyhow::Error) -> Response {
    tracing::error!(error = format!("{error:#}"), "a page cannot be made");
    (StatusCode::INTERNAL_SERVER_ERROR, "The page cannot be made; the gateway's log says why.\n").into_response()
}

/// The HTML of an email, for a frame of a page. Its links open beside the page.
pub(super) fn email(html: &str) -> Response {
    (protected(EMAIL_POLICY), Html(format!("<!doctype html><base target=\"_blank\">{html}"))).into_response()
}

fn protected(policy: &'static str) -> [(HeaderName, HeaderValue); 5] {
    [
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin")),
    ]
}

/// Goes on to another page after a form.
pub(super) fn see(path: &str) -> Response {
    match HeaderValue::from_str(path) {
        Ok(path) => (StatusCode::SEE_OTHER, protected(POLICY), [(header::LOCATION, path)]).into_response(),
        Err(error) => failed(&error.into()),
    }
}

pub(super) fn is_html(response: &Response) -> bool {
    let media_type = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.is_some_and(|media_type| media_type.starts_with("text/html"))
}

/// Answers 304 when the page is the one that the browser has: pages that keep themselves up to date ask often.
pub(super) async fn unless_known(request: Request, next: Next) -> Response {
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    let etag = response.headers().get(header::ETAG);
    if response.status() == StatusCode::OK && known.is_some() && known.as_ref() == etag {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    response
}
