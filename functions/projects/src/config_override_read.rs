//! `GET /api/v1/internal/config/override/{level}`: what a level of the configuration says that is not by default so.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::config::settings::Config;

use crate::configuration::overrides::{self, Documents, LevelPath, permit};
use crate::configuration::text::ConfigString;

pub const ROUTE: Route = Route::get("projects-config-override-read", "/api/v1/internal/config/override/{level}")
    .summary("Reads what a level of the configuration says")
    .table(&[BatchGetItem, Query])
    .errors(overrides::ERRORS);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<Ignored, Nothing, LevelPath>,
) -> Result<Json<ConfigString>, Error> {
    permit(&access, path.level)?;
    let documents = Documents::of(&app, &access.project.id).await?;
    Ok(Json(ConfigString { config_string: Config::of(&access.project, &documents.own).overrides(path.level).to_string() }))
}
