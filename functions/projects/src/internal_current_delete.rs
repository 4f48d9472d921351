//! `DELETE /api/v1/internal/projects/current`: deletes the project with everything that it has. From the answer on its keys open nothing.
//!
//! What it had is deleted by a worker, within minutes: it may be more than a request has time for. The project is the one that the header
//! names; whoever wants to be asked for it once more says its id in the body.

use axum::extract::State;
use deserr::Deserr;
use shared::http::TableAction::{BatchGetItem, DeleteItem, PutItem};
use shared::http::{Json, Route};
use shared::problem::Problems;
use shared::product_api::error::{Error, KnownError};
use shared::product_api::literal::{SUCCESS, Success};
use shared::product_api::{Access, Admin, Input};
use shared::{App, store};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::delete("projects-internal-current-delete", "/api/v1/internal/projects/current")
    .summary("Deletes the project with everything that it has")
    .table(&[BatchGetItem, DeleteItem, PutItem])
    .errors(&["INTERNAL_PROJECT_STAYS"]);

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
