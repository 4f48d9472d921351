//! Responses in JSON Lines: one object per line, so that a program can read any number of objects
//! one by one.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

/// A response with status 200, one item per line, and a link to the next page.
#[derive(Debug, Clone)]
pub struct JsonLines<T> {
    /// The items on the page.
    pub items: Vec<T>,
    /// Path and query of the next page, for the header `Link` (RFC 8288); absent on the last page.
    pub next: Option<String>,
}

impl<T> JsonLines<T> {
    /// The media type of the response.
    pub const MEDIA_TYPE: &'static str = "application/jsonl";
}

impl<T: Serialize> IntoResponse for JsonLines<T> {
    fn into_response(self) -> Response {
        let mut body = Vec::new();
        for item in &self.items {
            if let Err(error) = serde_json::to_writer(&mut body, item) {
                tracing::error!(%error, "an answer cannot be serialized");
                return StatusCode::INTERNAL_SERVER_ERROR.into_response();
            }
            body.push(b'\n');
        }
        let mut response = ([(header::CONTENT_TYPE, HeaderValue::from_static(Self::MEDIA_TYPE))], body).into_response();
        let link = self.next.and_then(|next| HeaderValue::from_str(&format!("<{next}>; rel=\"next\"")).ok());
        if let Some(link) = link {
            response.headers_mut().insert(header::LINK, link);
        }
        response
    }
}
