//! `GET /api/v1/internal/projects/current`: the project with all its settings, for administrators.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::BatchGetItem;
use shared::http::{Json, Route};
use shared::model::project_view::AdminProject;
use shared::product_api::error::Error;
use shared::product_api::{Access, Admin, Input};

pub const ROUTE: Route = Route::get("projects-internal-current-read", "/api/v1/internal/projects/current")
    .summary("Reads the project with all its settings")
    .table(&[BatchGetItem]);

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<AdminProject>, Error> {
    Ok(Json(AdminProject::of(&access.project, app.settings.development)))
}
