//! `DELETE /api/v1/internal/projects/current`: deletes the project with everything that it has. From the answer on its keys open nothing.
//!
//! What it had is deleted by a worker, within minutes: it may be more than a request has time for. The project is the one that the header
//! names; whoever wants to be asked for it once more says its id in the body.

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
    .summary("Deletes the project with everything that it has")
    .table(&[BatchGetItem, DeleteItem, PutItem])
    .errors(&[ErrorCode::InternalProjectStays]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DeleteProject {
    /// The id of the project: another one than the header's is refused.
    #[deserr(default)]
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
        return Err(ROUTE.schema_error(&Problems::one("body.project_id", "must be the id of the project")).into());
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
