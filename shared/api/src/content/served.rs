//! Documents as responses.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use site::{Document, HTML, RELEASE_AGE, page};
use store::content::images;

use crate::http::describe::{Describe, Description};

/// A response with a document.
#[derive(Debug)]
pub struct ServedDocument {
    media_type: &'static str,
    body: Vec<u8>,
    cache: String,
    links: Option<String>,
    since: Option<Timestamp>,
}

impl ServedDocument {
    /// A response with a compressed archive.
    pub fn archive(body: Vec<u8>) -> Self {
        Self { media_type: "application/gzip", body, cache: reusable(RELEASE_AGE), links: None, since: None }
    }

    /// A response with an image, which never changes.
    pub fn image(media_type: &'static str, body: Vec<u8>) -> Self {
        Self { media_type, body, cache: images::CACHE.to_owned(), links: None, since: None }
    }

    /// Adds the header `Link` (RFC 8288).
    pub fn with_links(self, links: String) -> Self {
        Self { links: Some(links), ..self }
    }

    /// Adds the header `Last-Modified`, if the time is known.
    pub fn since(self, since: Option<Timestamp>) -> Self {
        Self { since, ..self }
    }
}

/// The cache rule of a document that may be reused for `max_age` seconds.
fn reusable(max_age: u32) -> String {
    format!("public, max-age={max_age}")
}

impl From<Document> for ServedDocument {
    fn from(document: Document) -> Self {
        let Document { media_type, body, max_age } = document;
        Self { media_type, body: body.into_bytes(), cache: reusable(max_age), links: None, since: None }
    }
}

impl IntoResponse for ServedDocument {
    fn into_response(self) -> Response {
        let mut response = self.body.into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.media_type));
        if let Ok(value) = HeaderValue::try_from(self.cache) {
            headers.insert(header::CACHE_CONTROL, value);
        }
        if self.media_type == HTML {
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::POLICY));
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin"));
            headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
        }
        if let Some(links) = self.links.and_then(|links| HeaderValue::try_from(links).ok()) {
            headers.insert(header::LINK, links);
        }
        let since = self.since.and_then(|since| DateTimePrinter::new().timestamp_to_rfc9110_string(&since).ok());
        if let Some(since) = since.and_then(|since| HeaderValue::try_from(since).ok()) {
            headers.insert(header::LAST_MODIFIED, since);
        }
        response
    }
}

/// Describes nothing, because the media types of an operation's documents are listed in its route.
impl Describe for ServedDocument {
    fn describe(_: &mut Description) {}
}
