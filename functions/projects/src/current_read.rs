//! `GET /api/v1/projects/current`: returns the public settings of the project.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::view::ClientProject;

pub const ROUTE: Route = Route::get("projects-current-read", "/api/v1/projects/current")
    .summary("Returns the public settings of the project")
    .table(&[BatchGetItem]);

pub async fn handle(State(_): State<App>, access: Access<Client>, _: Input) -> Result<Json<ClientProject>, Error> {
    Ok(Json(ClientProject::of(&access.project)))
}
