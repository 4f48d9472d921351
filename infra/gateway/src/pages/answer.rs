//! Responses with HTML pages. The headers give browsers only the rights that the page needs.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{Html, IntoResponse, Response};
use crypto::digest::Digest;
use http::{HeaderValue, StatusCode, header};
use web_console::serve::{POLICY, protected};

/// The content security policy for the pictures in documents. The policy allows inline styles,
/// because pictures contain styles for the light and the dark theme.
const PICTURE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/// A response with a page. If rendering has failed, logs the error and responds with 500.
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
    tracing::error!(error = format!("{error:#}"), "cannot answer a request for a page");
    (StatusCode::INTERNAL_SERVER_ERROR, "The gateway failed to answer this request; see its log.\n").into_response()
}

/// A response with a picture of a document. Browsers must revalidate a cached picture, because it
/// may change with the gateway's version.
pub(super) fn picture(svg: &'static str) -> Response {
    let mut response = (protected(PICTURE_POLICY), svg).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    if let Ok(etag) = HeaderValue::from_str(&format!("\"{}\"", Digest::of(svg).as_str())) {
        headers.insert(header::ETAG, etag);
    }
    response
}

/// Redirects the browser to another page, which it requests with GET, for example after a form.
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

/// Responds with 304 if the browser already has the current page, because pages that refresh
/// themselves send many requests.
pub(super) async fn unless_known(request: Request, next: Next) -> Response {
    let known = request.headers().get(header::IF_NONE_MATCH).cloned();
    let response = next.run(request).await;
    let etag = response.headers().get(header::ETAG);
    if response.status() == StatusCode::OK && known.is_some() && known.as_ref() == etag {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    response
}
