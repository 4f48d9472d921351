//! `GET /api/v1/apps/{app_id}`: returns a visible app. A hidden app is not found.

use api::content::{Data, Problem};
use api::http::describe::{Describe, Described, Description};
use api::http::{Json, Route, TableAction};
use axum::extract::{FromRequestParts, Path, State};
use flows::App;
use http::request::Parts;
use model::content;
use serde::Deserialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("content-get-app", "/api/v1/apps/{app_id}")
    .content()
    .summary("Returns a public app")
    .table(&[TableAction::GetItem])
    .problems(&["app_not_found"]);

/// The requested app. No identifier is rejected as malformed: one that is not UTF-8, for example,
/// just matches no app.
#[derive(Debug, Deserialize, ToSchema)]
pub struct AppPath {
    /// The app's identifier in the directory.
    app_id: String,
}

impl FromRequestParts<App> for AppPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::from_request_parts(parts, app).await;
        path.map(|Path(path)| path).map_err(|_| Problem::AppNotFound)
    }
}

impl Describe for AppPath {
    fn describe(description: &mut Description) {
        description.path = Some(Described::of::<Self>());
    }
}

pub async fn handle(State(app): State<App>, path: AppPath) -> Result<Json<Data<content::App>>, Problem> {
    let mut apps = app.store.apps().await?.into_iter();
    let data = apps.find(|app| app.id == path.app_id).ok_or(Problem::AppNotFound)?;
    Ok(Json(Data { data: data.at(&app.settings.site_url) }))
}
