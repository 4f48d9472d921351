//! `GET /api/v1/internal/config`: returns all settings of the project as one configuration, with
//! defaults but without secrets.

use api::http::TableAction::{BatchGetItem, GetItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::config::settings::Config;

use crate::configuration::overrides::StoredConfig;
use crate::configuration::text::ConfigString;

pub const ROUTE: Route = Route::get("projects-config-read", "/api/v1/internal/config")
    .summary("Returns all settings as one configuration")
    .table(&[BatchGetItem, GetItem, Query]);

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<ConfigString>, Error> {
    let stored = StoredConfig::read(&app, &access.project).await?;
    Ok(Json(ConfigString { config_string: Config::whole(&access.project, &stored.documents, &stored.levels).to_string() }))
}
