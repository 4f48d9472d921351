//! The errors of interface A: exactly `code`, `message`, `hint` and `documentation_url` (SPEC.md, Errors).

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::json;

use crate::http::Json;
use crate::store;

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

    fn hint(self) -> &'static str {
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

    /// The answer of a site at `site_url`, whose documentation names the codes.
    pub fn answer(self, site_url: &str) -> Response {
        let error = json!({
            "code": self.code(),
            "message": self.to_string(),
            "hint": self.hint(),
            "documentation_url": format!("{site_url}/docs/api#{}", self.code()),
        });
        (self.status(), Json(json!({ "error": error }))).into_response()
    }
}

/// Logs a failure of the store and gives what the visitor learns of it.
pub fn failed(error: &store::Error) -> Problem {
    tracing::error!(%error, "an operation failed");
    Problem::InternalError
}
