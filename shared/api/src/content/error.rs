//! The errors of the content API: exactly `code`, `message`, `hint` and `documentation_url`.
//!
//! A handler returns the bare [`Problem`]. The layer around the handler writes the body with
//! [`Problem::answer`], because handlers do not have the site's URL, which the body's
//! `documentation_url` needs.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use errors::PathSlip;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;
use wire::environment;

use crate::http::json::Json;

/// Every error of the content API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// 404: no app has the id in the path.
    #[error("There is no such app.")]
    AppNotFound,
    /// 404: no post has the slug in the path.
    #[error("There is no such post.")]
    PostNotFound,
    /// 404: the path is not that of an operation, document, image or page.
    #[error("There is nothing at this path.")]
    RouteNotFound,
    /// Like [`Self::RouteNotFound`], but points out the likely mistake in the path.
    #[error("There is nothing at this path.")]
    Misspelt(PathSlip),
    /// 405: the path exists, but does not support this method.
    #[error("This path does not support the method of the request.")]
    MethodNotAllowed,
    /// 500: the service failed; the cause is in the log.
    #[error("Something went wrong on our side.")]
    InternalError,
}

impl Problem {
    /// One problem per code, for the documentation.
    pub const ALL: [Self; 5] = [Self::AppNotFound, Self::PostNotFound, Self::RouteNotFound, Self::MethodNotAllowed, Self::InternalError];

    /// The value of `code` in the body.
    pub fn code(self) -> &'static str {
        match self {
            Self::AppNotFound => "app_not_found",
            Self::PostNotFound => "post_not_found",
            Self::RouteNotFound | Self::Misspelt(_) => "route_not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::InternalError => "internal_error",
        }
    }

    /// Advice for the caller: what to do about the problem.
    pub fn hint(self) -> Cow<'static, str> {
        let hint = match self {
            Self::AppNotFound => "GET /api/v1/apps lists all apps.",
            Self::PostNotFound => "GET /api/v1/blog-posts lists all posts.",
            Self::RouteNotFound | Self::Misspelt(PathSlip::None) => "The OpenAPI document lists all paths; API paths begin with /api/v1.",
            Self::Misspelt(PathSlip::Slash) => "Remove the trailing slash from the path.",
            Self::Misspelt(PathSlip::Near { verb, path }) => return format!("Did you mean {verb} {path}?").into(),
            Self::MethodNotAllowed => "The Allow header lists the methods of this path.",
            Self::InternalError => "Try again in a moment.",
        };
        hint.into()
    }

    /// The HTTP status.
    pub fn status(self) -> StatusCode {
        match self {
            Self::AppNotFound | Self::PostNotFound | Self::RouteNotFound | Self::Misspelt(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The response to the caller. Its `documentation_url` links to the code's description on the
    /// site at `site_url`. A 405 has the header `Allow: GET, HEAD`, because these are the methods
    /// of every path in the content API.
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

    /// Derives the problem from the status of a response that was built without one: by the router,
    /// or in place of a response that could not be serialized. Returns `None` if no problem has
    /// this status.
    pub(crate) fn from_status(status: StatusCode) -> Option<Self> {
        match status {
            StatusCode::NOT_FOUND => Some(Self::RouteNotFound),
            StatusCode::METHOD_NOT_ALLOWED => Some(Self::MethodNotAllowed),
            status if status.is_server_error() => Some(Self::InternalError),
            _ => None,
        }
    }
}

/// Attaches the problem to an empty response; the layer then writes the body.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Logs the missing or invalid setting; the caller only sees an internal error.
impl From<environment::Error> for Problem {
    fn from(error: environment::Error) -> Self {
        tracing::error!(%error, "a setting is missing or invalid");
        Self::InternalError
    }
}

/// Logs the storage error; the caller only sees an internal error.
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
    async fn an_error_has_exactly_its_four_fields() {
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
    fn a_wrong_method_is_answered_with_the_allowed_ones() {
        let answer = Problem::MethodNotAllowed.answer("https://example.com");
        assert_eq!(answer.status(), 405);
        assert_eq!(answer.headers()[header::ALLOW], "GET, HEAD");
    }
}
