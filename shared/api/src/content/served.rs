//! Documents as responses.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use site::{Document, HTML, page};

use crate::http::describe::{Describe, Description};

/// A response with a document.
#[derive(Debug)]
pub struct Served {
    document: Document,
    links: Option<String>,
}

impl Served {
    /// A response with a document, and the header `Link` (RFC 8288).
    pub fn with_links(document: Document, links: String) -> Self {
        Self { document, links: Some(links) }
    }
}

impl From<Document> for Served {
    fn from(document: Document) -> Self {
        Self { document, links: None }
    }
}

impl IntoResponse for Served {
    fn into_response(self) -> Response {
        let Self { document, links } = self;
        let mut response = document.body.into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(document.media_type));
        if let Ok(value) = HeaderValue::from_str(&format!("public, max-age={}", document.max_age)) {
            headers.insert(header::CACHE_CONTROL, value);
        }
        if document.media_type == HTML {
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(page::POLICY));
            headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("strict-origin-when-cross-origin"));
            headers.insert(HeaderName::from_static("cross-origin-opener-policy"), HeaderValue::from_static("same-origin"));
        }
        if let Some(links) = links.and_then(|links| HeaderValue::try_from(links).ok()) {
            headers.insert(header::LINK, links);
        }
        response
    }
}

/// The media types differ between the documents of an operation.
impl Describe for Served {
    fn describe(description: &mut Description) {
        description.text = Some("*/*");
    }
}
