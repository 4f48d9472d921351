//! A request from an agent.

use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use flows::App;
use http::{HeaderMap, StatusCode, header};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use wire::json::{is_too_complex, without_mark};

use crate::http::describe::{Describe, Description, SchemaParts};
use crate::http::whole_body::{self, BodyError};
use crate::rpc::code::INVALID_REQUEST;
use crate::rpc::origin;
use crate::rpc::reply::Reply;

/// A request from an allowed origin, with a body of at most `MAX_BYTES` bytes whose media type is
/// JSON. The body has not been parsed yet, but is known to be simple enough to parse.
#[derive(Debug)]
pub struct JsonRequest<const MAX_BYTES: usize> {
    /// The headers.
    pub headers: HeaderMap,
    /// The query, without `?`.
    pub query: String,
    /// The body.
    pub body: Vec<u8>,
}

impl<const MAX_BYTES: usize> FromRequest<App> for JsonRequest<MAX_BYTES> {
    type Rejection = Response;

    async fn from_request(request: Request, app: &App) -> Result<Self, Response> {
        let refused = |status, message: &str| Reply::error(&Value::Null, INVALID_REQUEST, message).with_status(status).into_response();
        let (parts, body) = request.into_parts();
        if !origin::is_allowed(&parts.headers, &app.settings) {
            return Err(refused(StatusCode::FORBIDDEN, "Requests with this `Origin` or `Host` may not call this endpoint."));
        }
        let media_type = parts.headers.get(header::CONTENT_TYPE).map_or(Some(""), |value| value.to_str().ok());
        let media_type = media_type.and_then(|text| text.split(';').next()).map(|text| text.trim().to_ascii_lowercase());
        if media_type.as_deref() != Some("application/json") {
            return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send `content-type: application/json`."));
        }
        if whole_body::encoding(&parts.headers).is_some() {
            return Err(refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Send the body as it is, without `content-encoding`."));
        }
        let mut body = whole_body::read(body, MAX_BYTES).await.map_err(|error| match error {
            BodyError::TooLarge => refused(StatusCode::PAYLOAD_TOO_LARGE, &format!("The body has more than {MAX_BYTES} bytes.")),
            BodyError::EndedEarly => refused(StatusCode::BAD_REQUEST, "The body ended early."),
        })?;
        if is_too_complex(&body) {
            return Err(refused(StatusCode::BAD_REQUEST, "The body has too many values."));
        }
        let query = parts.uri.query().unwrap_or_default().to_owned();
        body.drain(..body.len() - without_mark(&body).len());
        Ok(Self { headers: parts.headers, query, body })
    }
}

/// A request in JSON-RPC 2.0.
#[derive(Debug, Serialize, ToSchema)]
pub struct RpcRequest {
    /// Always `2.0`.
    #[schema(example = "2.0")]
    pub jsonrpc: String,
    /// A string or an integer, which the response repeats; absent in notifications.
    pub id: Option<Value>,
    /// The method of the protocol.
    pub method: String,
    /// The parameters of the method.
    pub params: Option<Value>,
}

impl<const MAX_BYTES: usize> Describe for JsonRequest<MAX_BYTES> {
    fn describe(description: &mut Description) {
        description.body = Some(SchemaParts::of::<RpcRequest>());
    }
}
