//! `GET /api/v1/apps`: lists the visible apps in the order of the directory.

use api::content::{Data, Problem};
use api::http::{Json, Route, TableAction};
use axum::extract::State;
use flows::App;
use model::content;

use crate::published::apps;

pub const ROUTE: Route =
    Route::get("content-list-apps", "/api/v1/apps").content().summary("Lists the public apps").table(&[TableAction::GetItem]);

pub async fn handle(State(app): State<App>) -> Result<Json<Data<Vec<content::App>>>, Problem> {
    Ok(Json(Data { data: apps(&app).await? }))
}
