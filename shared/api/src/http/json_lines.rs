//! Answers of JSON lines: an object on each line, which programs read one by one, however many there are.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

/// An answer of 200 with an item on each line, and where the next page is.
#[derive(Debug, Clone)]
pub struct JsonLines<T> {
    pub items: Vec<T>,
    /// Path and query of the next page, for the header `Link` (RFC 8288).
    pub next: Option<String>,
}

impl<T> JsonLines<T> {
    pub const MEDIA_TYPE: &'static str = "application/jsonl";
}

impl<T: Serialize> IntoResponse for JsonLines<T> {
    fn into_response(self) -> Response {
        let mut body = Vec::new();
        for item in &self.items {
            if let Err(error) = serde_json::to_writer(&mut body, item) {
                tracing::error!(%error, "an answer cannot be serialised");
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
