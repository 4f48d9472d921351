//! Calls operations in this process on behalf of the operator. Pages change project data only
//! through such calls, so the API's rules apply.

use api::http::client::PeerAddress;
use api::product::access::Operator;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::response::IntoResponse as _;
use http::{Extensions, HeaderValue, StatusCode, header};
use serde_json::Value;
use tower::ServiceExt as _;
use wire::level::Level;

use super::state::Pages;

/// The maximum size of a response, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// A call that has not been made yet.
pub(super) struct Call(Request);

impl Call {
    /// A call by the operator in a project, with the given access level.
    pub(super) fn new(method: &str, path: &str, level: Level, project: &str) -> Self {
        let request = Request::builder().method(method).uri(path).header("x-service-access-type", level.name());
        Self(request.extension(Operator).header("x-service-project-id", project).body(Body::empty()).unwrap_or_default())
    }

    pub(super) fn with_body(mut self, body: &Value) -> Self {
        self.0.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *self.0.body_mut() = Body::from(body.to_string());
        self
    }

    /// Adds `If-Match`, so that the operation succeeds only if the item still has this `ETag`. A
    /// malformed `ETag` matches no item.
    pub(super) fn if_match(mut self, etag: &str) -> Self {
        let etag = HeaderValue::from_str(etag).unwrap_or(HeaderValue::from_static("\"\""));
        self.0.headers_mut().insert(header::IF_MATCH, etag);
        self
    }

    /// Makes the call, and returns the status and the body of the response. `from` contains the
    /// extensions of the browser's request that causes the call.
    pub(super) async fn answer(mut self, pages: &Pages, from: &Extensions) -> (StatusCode, Value) {
        self.0.extensions_mut().insert(from.get::<PeerAddress>().copied().unwrap_or_default());
        let response = pages.api.clone().oneshot(self.0).await.into_response();
        let status = response.status();
        let body = to_bytes(response.into_body(), MAX_BYTES).await.unwrap_or_default();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }
}
