//! Responses with the uploaded pictures of users, teams and members.

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, header};
use model::profile_image::Upload;

use crate::http::describe::{Describe, Description};

/// A response with a picture that may be cached for a day.
pub struct Picture(pub Upload);

impl IntoResponse for Picture {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, self.0.kind.media_type()),
            (header::CACHE_CONTROL, "public, max-age=86400, immutable"),
            // No script may run, even if a browser is tricked into showing the image as a document.
            (header::CONTENT_SECURITY_POLICY, "default-src 'none'; sandbox"),
            (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
        ];
        (headers.map(|(name, value)| (name, HeaderValue::from_static(value))), self.0.bytes).into_response()
    }
}

impl Describe for Picture {
    fn describe(_: &mut Description) {}
}
