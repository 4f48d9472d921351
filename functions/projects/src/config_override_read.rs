//! `GET /api/v1/internal/config/override/{level}`: what a level of the configuration says that is not by default so.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, Query};
use shared::http::{Json, Route};
use shared::model::config::settings::Config;
use shared::product_api::error::Error;
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::{Access, Input, Server};

use crate::config_overrides::{self, Documents, LevelPath, permit};
use crate::config_read::ConfigString;

pub const ROUTE: Route = Route::get("projects-config-override-read", "/api/v1/internal/config/override/{level}")
    .summary("Reads what a level of the configuration says")
    .table(&[BatchGetItem, Query])
    .errors(&config_overrides::ERRORS);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<Ignored, Nothing, LevelPath>,
) -> Result<Json<ConfigString>, Error> {
    permit(&access, path.level)?;
    let documents = Documents::of(&app, &access.project.id).await?;
    Ok(Json(ConfigString { config_string: Config::of(&access.project, &documents.own).overrides(path.level).to_string() }))
}
