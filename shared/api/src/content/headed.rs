//! Responses with the header `Link`.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};

use crate::http::describe::{Describe, Description};

/// A response with the header `Link` (RFC 8288).
#[derive(Debug)]
pub struct LinkedResponse<T> {
    /// The response without the header.
    pub answer: T,
    /// The value of `Link`; `None` leaves the header out.
    pub links: Option<String>,
}

impl<T: IntoResponse> IntoResponse for LinkedResponse<T> {
    fn into_response(self) -> Response {
        let mut response = self.answer.into_response();
        if let Some(links) = self.links.and_then(|links| HeaderValue::try_from(links).ok()) {
            response.headers_mut().insert(header::LINK, links);
        }
        response
    }
}

impl<T: Describe> Describe for LinkedResponse<T> {
    fn describe(description: &mut Description) {
        T::describe(description);
    }
}
