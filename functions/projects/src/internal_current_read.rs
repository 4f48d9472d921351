//! `GET /api/v1/internal/projects/current`: returns the project with all its settings, for
//! administrators.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::view::AdminProject;

pub const ROUTE: Route = Route::get("projects-internal-current-read", "/api/v1/internal/projects/current")
    .summary("Returns the project with all its settings")
    .table(&[BatchGetItem]);

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<VersionedResponse<Json<AdminProject>>, Error> {
    let response = Json(AdminProject::of(&access.project, app.settings.development));
    Ok(VersionedResponse { response, version: access.project_version })
}
