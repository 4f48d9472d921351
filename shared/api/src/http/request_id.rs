//! The id of a request: one for the client, the log of the function and the log of API Gateway.

use lambda_http::request::RequestContext;

/// API Gateway's id where it sent the request, otherwise one of our own. A runner puts it among a
/// request's extensions, and the layer among the answer's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(String);

impl RequestId {
    pub fn new(id: String) -> Self {
        Self(id)
    }

    /// The id that API Gateway's access log has (`$context.requestId`).
    pub(crate) fn of(context: &RequestContext) -> Option<Self> {
        match context {
            RequestContext::ApiGatewayV2(context) => context.request_id.clone().map(Self),
            _ => None,
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
