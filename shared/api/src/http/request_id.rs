//! The id of a request, shared by the function's log, API Gateway's log and, in the product API,
//! the client.

use lambda_http::request::RequestContext;

/// The id that API Gateway gave the request; without API Gateway, an id that this service
/// generated. A runner adds API Gateway's id to the request's extensions; the product API's layer
/// adds the request's id to the response's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    /// Creates an id from its text.
    pub fn new(id: String) -> Self {
        Self(id)
    }

    /// The id in API Gateway's access log (`$context.requestId`).
    pub(crate) fn of(context: &RequestContext) -> Option<Self> {
        match context {
            RequestContext::ApiGatewayV2(context) => context.request_id.clone().map(Self),
            _ => None,
        }
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
