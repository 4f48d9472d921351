//! `GET /apps/{app_id}`: returns the page of a visible app.

use api::content::{ContentPath, NamedResource, Problem, ServedDocument};
use api::http::{Route, TableAction};
use axum::extract::State;
use flows::App;
use serde::Deserialize;
use site::page;
use utoipa::ToSchema;

use crate::published::front;

pub const ROUTE: Route = Route::get("content-get-app-page", "/apps/{app_id}")
    .content()
    .media(&["text/html"])
    .summary("Returns the page of a public app")
    .table(&[TableAction::GetItem])
    .problems(&["app_not_found"]);

/// The app whose page is requested.
#[derive(Debug, Deserialize, ToSchema)]
pub struct AppPagePath {
    /// The app's identifier in the directory.
    app_id: String,
}

impl NamedResource for AppPagePath {
    const PROBLEM: Problem = Problem::AppNotFound;
}

pub async fn handle(State(app): State<App>, ContentPath(path): ContentPath<AppPagePath>) -> Result<ServedDocument, Problem> {
    let site_url = &app.settings.site_url;
    let (front, apps) = futures_util::try_join!(front(&app), async { Ok(app.store.apps().await?) })?;
    let found = apps.into_iter().find(|one| one.id == path.app_id).ok_or(Problem::AppNotFound)?;
    Ok(ServedDocument::from(page::app(&front.value, &found.at(site_url), site_url)).since(front.since))
}
