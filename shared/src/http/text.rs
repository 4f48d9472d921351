//! Answers of plain text.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

use super::describe::{Describe, Description};

/// An answer of 200 with a text for people.
#[derive(Debug, Clone)]
pub struct Text(pub String);

impl IntoResponse for Text {
    fn into_response(self) -> Response {
        ([(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))], self.0).into_response()
    }
}

impl Describe for Text {
    fn describe(description: &mut Description) {
        description.is_text = true;
    }
}
