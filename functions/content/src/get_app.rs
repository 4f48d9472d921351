//! `GET /api/v1/apps/{app_id}`: returns a visible app. The response for a hidden app is the same as
//! for an unknown app.

use api::content::{ContentPath, Data, NamedResource, Problem};
use api::http::{Json, Route, TableAction};
use axum::extract::State;
use flows::App;
use model::content;
use serde::Deserialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("content-get-app", "/api/v1/apps/{app_id}")
    .content()
    .summary("Returns a public app")
    .table(&[TableAction::GetItem])
    .problems(&["app_not_found"]);

/// The requested app.
#[derive(Debug, Deserialize, ToSchema)]
pub struct AppPath {
    /// The app's identifier in the directory.
    app_id: String,
}

impl NamedResource for AppPath {
    const PROBLEM: Problem = Problem::AppNotFound;
}

pub async fn handle(State(app): State<App>, ContentPath(path): ContentPath<AppPath>) -> Result<Json<Data<content::App>>, Problem> {
    let mut apps = app.store.apps().await?.into_iter();
    let data = apps.find(|app| app.id == path.app_id).ok_or(Problem::AppNotFound)?;
    Ok(Json(Data { data: data.at(&app.settings.site_url) }))
}
