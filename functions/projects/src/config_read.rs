//! `GET /api/v1/internal/config`: all settings of the project as one configuration, with their defaults and without secrets.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::project::config::settings::Config;

use crate::configuration::overrides::Documents;
use crate::configuration::text::ConfigString;

pub const ROUTE: Route = Route::get("projects-config-read", "/api/v1/internal/config")
    .summary("Reads all settings as one configuration")
    .table(&[BatchGetItem, Query]);

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<ConfigString>, Error> {
    let documents = Documents::of(&app, &access.project.id).await?;
    Ok(Json(ConfigString { config_string: Config::of(&access.project, &documents.own).nested().to_string() }))
}
