//! `GET /api/v1/site`: returns the identity of the site and the URLs of its documentation, for
//! people and for agents.

use api::content::{Data, LinkedResponse, Problem};
use api::http::{Json, Route, TableAction};
use axum::extract::State;
use flows::App;
use model::content::Site;
use site::catalog;

use crate::published;

pub const ROUTE: Route = Route::get("content-get-site", "/api/v1/site")
    .content()
    .summary("Returns the identity of the site and the URLs of its documentation")
    .table(&[TableAction::GetItem]);

pub async fn handle(State(app): State<App>) -> Result<LinkedResponse<Json<Data<Site>>>, Problem> {
    Ok(LinkedResponse { answer: Json(Data { data: published::site(&app).await? }), links: Some(catalog::links(&app.settings.site_url)) })
}
