//! `GET /api/v1/internal/config/override/{level}`: returns the values of a configuration level as
//! they were written, without defaults or secrets.

use api::http::TableAction::{BatchGetItem, GetItem, Query};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::config::settings::Config;

use crate::configuration::overrides::{self, LevelPath, StoredConfig, permit};
use crate::configuration::text::ConfigString;

pub const ROUTE: Route = Route::get("projects-config-override-read", "/api/v1/internal/config/override/{level}")
    .summary("Returns the values that a level of the configuration sets")
    .table(&[BatchGetItem, GetItem, Query])
    .errors(overrides::ERRORS);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<IgnoredBody, Nothing, LevelPath>,
) -> Result<Json<ConfigString>, Error> {
    permit(&access, path.level)?;
    let stored = StoredConfig::read(&app, &access.project).await?;
    Ok(Json(ConfigString { config_string: Config::level_value(&stored.levels, &stored.documents, path.level).to_string() }))
}
