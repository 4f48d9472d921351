//! `DELETE /api/v1/internal/projects/current`: deletes the project with all its data. The project's
//! keys stop working immediately or, if the deployment sets `GATELET_PROJECT_CACHE_SECONDS`, within
//! that number of seconds.
//!
//! A worker deletes the data, which may take longer than a request. A header identifies the
//! project. To prevent mistakes, the body can repeat the project's id.

use api::http::TableAction::{BatchGetItem, DeleteItem, PutItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::literal::{SUCCESS, Success};
use utoipa::ToSchema;
use wire::problem::Problems;

pub const ROUTE: Route = Route::delete("projects-internal-current-delete", "/api/v1/internal/projects/current")
    .summary("Deletes the project with all its data")
    .table(&[BatchGetItem, DeleteItem, PutItem])
    .errors(&[ErrorCode::InternalProjectStays]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DeleteProject {
    /// The id of the project, which must match the header.
    project_id: Option<String>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<Option<DeleteProject>>,
) -> Result<Json<Success>, Error> {
    let project = &access.project;
    let confirmed = body.and_then(|body| body.project_id);
    if confirmed.is_some_and(|id| id != project.id.as_str()) {
        return Err(ROUTE.schema_error(&Problems::one("body.project_id", "must be the id of the project in the header")).into());
    }
    if project.id.is_internal() {
        return Err(KnownError::InternalProjectStays.into());
    }
    match app.store.end_project(project, app.clock.now()).await {
        Ok(()) => Ok(Json(SUCCESS)),
        Err(store::Error::Conflict(_)) => Err(KnownError::CurrentProjectNotFound { project_id: project.id.to_string() }.into()),
        Err(error) => Err(error.into()),
    }
}
