//! `GET /api/v1/site`: returns the identity of the site and the URLs of its documentation, for
//! people and for agents.

use api::content::{Data, Problem};
use api::http::{Json, Route, TableAction};
use axum::extract::State;
use flows::App;
use model::content::Site;

use crate::published::site;

pub const ROUTE: Route = Route::get("content-get-site", "/api/v1/site")
    .content()
    .summary("Returns the identity of the site and the URLs of its documentation")
    .table(&[TableAction::GetItem]);

pub async fn handle(State(app): State<App>) -> Result<Json<Data<Site>>, Problem> {
    Ok(Json(Data { data: site(&app).await? }))
}
