//! The response to an agent.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::http::describe::{Describe, Description, SchemaParts};
use crate::rpc::code::INTERNAL_ERROR;

/// A response in JSON-RPC 2.0, or an empty one.
#[derive(Debug)]
pub struct Reply {
    status: StatusCode,
    body: Option<Value>,
}

impl Reply {
    /// The result of the request with this id.
    pub fn result(id: &Value, result: &Value) -> Self {
        Self { status: StatusCode::OK, body: Some(json!({ "jsonrpc": "2.0", "id": id, "result": result })) }
    }

    /// The failure of the request with this id (`null` if unknown). The status is 200.
    pub fn error(id: &Value, code: i64, message: &str) -> Self {
        Self { status: StatusCode::OK, body: Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })) }
    }

    /// The response to a message that does not expect one: 202 without a body.
    pub fn accepted() -> Self {
        Self { status: StatusCode::ACCEPTED, body: None }
    }

    /// The error when the service fails; the cause is in the log.
    pub fn failed(id: &Value) -> Self {
        let reply = Self::error(id, INTERNAL_ERROR, "The service failed; try again in a moment.");
        reply.with_status(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// Adds details to an error.
    pub fn with_data(mut self, data: Value) -> Self {
        if let Some(error) = self.body.as_mut().and_then(|body| body.get_mut("error")) {
            error["data"] = data;
        }
        self
    }

    /// Replaces the status.
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let Some(body) = self.body else { return self.status.into_response() };
        let json = HeaderValue::from_static("application/json");
        (self.status, [(header::CONTENT_TYPE, json)], body.to_string()).into_response()
    }
}

/// A response in JSON-RPC 2.0: either `result` or `error`.
#[derive(Debug, Serialize, ToSchema)]
struct RpcResponse {
    /// Always `2.0`.
    jsonrpc: String,
    /// The id of the request.
    id: Option<Value>,
    /// The result of the method.
    result: Option<Value>,
    /// Why the method failed, with `code` and `message`.
    error: Option<Value>,
}

impl Describe for Reply {
    fn describe(description: &mut Description) {
        description.answer = Some(SchemaParts::of::<RpcResponse>());
    }
}
