//! `GET /api/v1/projects/{project_id}/.well-known/{document}`: returns the metadata of the project
//! as an issuer of tokens, below its issuer (OpenID Connect Discovery 1.0 §4).

use api::http::Route;
use api::http::TableAction::BatchGetItem;
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Anybody, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;

use crate::issuer::{Document, DocumentPath};

pub const ROUTE: Route = Route::get("projects-issuer-metadata-read", "/api/v1/projects/{project_id}/.well-known/{document}")
    .summary("Returns the metadata of the project as an issuer of tokens")
    .without_secret()
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::ProjectNotFound, ErrorCode::RouteNotFound]);

pub async fn handle(
    State(app): State<App>,
    _: Anybody,
    Input { path, .. }: Input<IgnoredBody, Nothing, DocumentPath>,
) -> Result<Document, Error> {
    Document::read(&app, &path).await
}
