//! `GET /.well-known/{document}/api/v1/projects/{project_id}`: returns the metadata of the project
//! as an issuer of tokens, at the path that clients derive from the issuer (RFC 8414 §3.1).

use api::http::Route;
use api::http::TableAction::BatchGetItem;
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Anybody, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;

use crate::issuer::{Document, DocumentPath};

pub const ROUTE: Route = Route::get("projects-issuer-metadata-discover", "/.well-known/{document}/api/v1/projects/{project_id}")
    .summary("Returns the metadata of the project as an issuer of tokens, by the path of RFC 8414")
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
