//! `GET /api/v1/site`: returns the identity of the site and the URLs of its documentation, for
//! people and for agents.

use api::content::{Data, Problem};
use api::http::{Json, Route, TableAction};
use axum::extract::State;
use flows::App;
use model::content::Site;

pub const ROUTE: Route = Route::get("content-get-site", "/api/v1/site")
    .content()
    .summary("Returns the identity of the site and the URLs of its documentation")
    .table(&[TableAction::GetItem]);

pub async fn handle(State(app): State<App>) -> Result<Json<Data<Site>>, Problem> {
    let published = app.store.site().await?;
    let site_url = &app.settings.site_url;
    let data = published.map_or_else(|| Site::unpublished(site_url), |site| site.at(site_url));
    Ok(Json(Data { data }))
}
