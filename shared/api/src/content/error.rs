//! The errors of interface A: exactly `code`, `message`, `hint` and `documentation_url`.
//!
//! A handler knows which problem it has, and only the layer knows the site whose documentation explains it. So a handler answers the
//! bare [`Problem`], and the layer writes the body. Whoever answers outside of the layer calls [`Problem::answer`].

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde_json::json;

use crate::http::json::Json;

/// Every failure of interface A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("There is no such app.")]
    AppNotFound,
    #[error("There is nothing at this path.")]
    RouteNotFound,
    #[error("This path does not have that method.")]
    MethodNotAllowed,
    #[error("Something went wrong on our side.")]
    InternalError,
}

impl Problem {
    pub const ALL: [Self; 4] = [Self::AppNotFound, Self::RouteNotFound, Self::MethodNotAllowed, Self::InternalError];

    pub fn code(self) -> &'static str {
        match self {
            Self::AppNotFound => "app_not_found",
            Self::RouteNotFound => "route_not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::InternalError => "internal_error",
        }
    }

    /// What whoever gets the error can do.
    pub fn hint(self) -> &'static str {
        match self {
            Self::AppNotFound => "GET /api/v1/apps lists the apps that there are.",
            Self::RouteNotFound => "The OpenAPI document lists the paths that there are.",
            Self::MethodNotAllowed => "The Allow header lists the methods that there are.",
            Self::InternalError => "Try again in a moment.",
        }
    }

    pub fn status(self) -> StatusCode {
        match self {
            Self::AppNotFound | Self::RouteNotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The answer of a site at `site_url`, whose documentation names the codes. Every path has the same two methods.
    pub fn answer(self, site_url: &str) -> Response {
        let error = json!({
            "code": self.code(),
            "message": self.to_string(),
            "hint": self.hint(),
            "documentation_url": format!("{site_url}/docs/errors#{}", self.code()),
        });
        let mut response = (self.status(), Json(json!({ "error": error }))).into_response();
        if self == Self::MethodNotAllowed {
            response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
        }
        response
    }

    /// What a visitor learns of an answer of `status` that names no problem: the router's own, or one that could not be made.
    pub(crate) fn of_status(status: StatusCode) -> Option<Self> {
        match status {
            StatusCode::NOT_FOUND => Some(Self::RouteNotFound),
            StatusCode::METHOD_NOT_ALLOWED => Some(Self::MethodNotAllowed),
            status if status.is_server_error() => Some(Self::InternalError),
            _ => None,
        }
    }
}

/// The status and the problem, from which the layer makes the answer.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// What the visitor learns of a failure of the store, which is logged here.
impl From<store::Error> for Problem {
    fn from(error: store::Error) -> Self {
        tracing::error!(%error, "the content cannot be read");
        Self::InternalError
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::BodyExt as _;

    #[tokio::test]
    async fn an_error_has_exactly_the_four_fields_of_the_specification() {
        for problem in Problem::ALL {
            let body = problem.answer("https://example.com").into_body().collect().await.unwrap().to_bytes();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let fields: Vec<_> = body["error"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(fields, ["code", "documentation_url", "hint", "message"], "{problem:?}");
            let link = body["error"]["documentation_url"].as_str().unwrap();
            assert_eq!(link, format!("https://example.com/docs/errors#{}", problem.code()));
        }
    }

    #[test]
    fn a_wrong_method_is_told_the_right_ones() {
        let answer = Problem::MethodNotAllowed.answer("https://example.com");
        assert_eq!(answer.status(), 405);
        assert_eq!(answer.headers()[header::ALLOW], "GET, HEAD");
    }
}
