//! `GET /api/v1/projects/{project_id}/.well-known/webauthn`: returns the origins where the
//! project's passkeys may be used. Origins on a relying party's own domain are not included.
//!
//! Browsers fetch such a file from the relying party's domain (WebAuthn Level 3 §5.11). An app
//! therefore serves a copy on that domain, or forwards the requests to this operation.

use api::http::TableAction::GetItem;
use api::http::{Describe, Description, Json, Route};
use api::product::input::{IgnoredBody, Nothing, ProjectPath};
use api::product::{Anybody, Input};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use errors::{Error, ErrorCode};
use flows::App;
use serde::Serialize;
use utoipa::ToSchema;

use crate::published::{self, FOR_AN_HOUR};

pub const ROUTE: Route = Route::get("projects-related-origins-read", "/api/v1/projects/{project_id}/.well-known/webauthn")
    .summary("Returns the origins where the project's passkeys may be used")
    .without_secret()
    .table(&[GetItem])
    .errors(&[ErrorCode::ProjectNotFound]);

/// The response with the origins, which can be cached for an hour.
#[derive(Serialize, ToSchema)]
pub struct RelatedOrigins {
    /// The project's trusted https domains without wildcards. Empty if the project does not offer
    /// passkeys.
    #[schema(example = json!(["https://app.example.com"]))]
    origins: Vec<String>,
}

impl IntoResponse for RelatedOrigins {
    fn into_response(self) -> Response {
        (FOR_AN_HOUR, Json(self)).into_response()
    }
}

impl Describe for RelatedOrigins {
    fn describe(description: &mut Description) {
        Json::<Self>::describe(description);
    }
}

pub async fn handle(
    State(app): State<App>,
    _: Anybody,
    Input { path, .. }: Input<IgnoredBody, Nothing, ProjectPath>,
) -> Result<RelatedOrigins, Error> {
    let config = published::project(&app, &path.project_id).await?.config;
    let origins = if config.passkeys.enabled { config.related_origins() } else { Vec::new() };
    Ok(RelatedOrigins { origins })
}
