//! Known errors as HTTP responses: status, body and headers.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use model::limit::Refusal;
use serde_json::{Value, json};
use wire::problem::Problems;

use crate::known::{ErrorCode, KnownError};

/// The code of an error, attached to the response for the layers around operations. The layers log
/// the code and add it to a header.
#[derive(Debug, Clone, Copy)]
pub struct AnsweredCode(pub ErrorCode);

/// An error, attached to the response for the layer around operations, which then writes the body.
#[derive(Debug, Clone)]
pub struct AttachedError(pub KnownError);

impl KnownError {
    /// The error for a request that does not match its operation's schema.
    pub fn schema(problems: &Problems, method: &str, path: &str) -> Self {
        let mut message = format!("the request {method} {path} does not match its schema:");
        for line in problems.lines() {
            message.push_str("\n  - ");
            message.push_str(&line);
        }
        Self::SchemaError { message, problems: problems.reported().to_vec() }
    }

    /// The error's part of the body: `{code, error, details?}`.
    pub fn body(&self) -> Value {
        let mut body = serde_json::to_value(self).unwrap_or_else(|_| json!({ "code": self.code() }));
        body["error"] = Value::String(self.to_string());
        if body["details"].is_null() || body["details"].as_array().is_some_and(Vec::is_empty) {
            body.as_object_mut().map(|body| body.remove("details"));
        }
        body
    }
}

/// The response without its body. The layer around operations writes the body, because only that
/// layer has the URL of the documentation.
impl IntoResponse for KnownError {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        let headers = response.headers_mut();
        if self.status() == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Gatelet"));
        }
        if self == Self::ServiceUnavailable {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if let Self::RateLimited(refused) = &self {
            describe_limit(refused, headers);
        }
        response.extensions_mut().insert(AnsweredCode(ErrorCode::from(&self)));
        response.extensions_mut().insert(AttachedError(self));
        response
    }
}

/// Sets `Retry-After` (RFC 9110 §10.2.3), and the fields of draft-ietf-httpapi-ratelimit-headers:
/// `RateLimit-Policy` contains the policy, and `RateLimit` reports zero remaining requests.
fn describe_limit(refused: &Refusal, headers: &mut HeaderMap) {
    let Refusal { limit, retry_after_seconds, quota, window } = refused;
    for (name, value) in [
        (header::RETRY_AFTER, retry_after_seconds.to_string()),
        (HeaderName::from_static("ratelimit-policy"), format!("\"{limit}\";q={quota};w={window}")),
        (HeaderName::from_static("ratelimit"), format!("\"{limit}\";r=0;t={retry_after_seconds}")),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_has_details_only_when_there_are_any() {
        insta::assert_snapshot!(KnownError::UserNotFound.body(), @r#"{"code":"USER_NOT_FOUND","error":"the user does not exist"}"#);
        insta::assert_snapshot!(KnownError::BodyParsingError("x".into()).body(), @r#"{"code":"BODY_PARSING_ERROR","error":"the body cannot be parsed: x"}"#);
        let long = KnownError::PasswordTooLong { max_length: 128 };
        insta::assert_snapshot!(long.body(), @r#"{"code":"PASSWORD_TOO_LONG","details":{"maxLength":128},"error":"the password must be at most 128 characters long"}"#);
    }
}
