//! `GET /api/v1/projects/current`: what any client may know of its project.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::BatchGetItem;
use shared::http::{Json, Route};
use shared::model::project_view::ClientProject;
use shared::product_api::error::Error;
use shared::product_api::{Access, Client, Input};

pub const ROUTE: Route =
    Route::get("projects-current-read", "/api/v1/projects/current").summary("Reads the project, as its clients may").table(&[BatchGetItem]);

pub async fn handle(State(_): State<App>, access: Access<Client>, _: Input) -> Result<Json<ClientProject>, Error> {
    Ok(Json(ClientProject::of(&access.project)))
}
