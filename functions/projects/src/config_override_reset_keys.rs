//! `POST /api/v1/internal/config/override/{level}/reset-keys`: takes keys out of a level of the configuration, with everything below them:
//! what they said is by default so from then on.

use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Input, Server};
use axum::extract::State;
use deserr::Deserr;
use errors::Error;
use flows::App;
use flows::literal::{SUCCESS, Success};
use model::project::config::settings::Config;
use utoipa::ToSchema;

use crate::configuration::overrides::{self, Documents, LevelPath, permit, refused, write};

pub const ROUTE: Route = Route::post("projects-config-override-reset-keys", "/api/v1/internal/config/override/{level}/reset-keys")
    .summary("Takes keys out of a level of the configuration")
    .table(&overrides::CHANGE)
    .errors(overrides::CHANGE_ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Keys {
    /// Paths with dots, such as `auth.signUpRules`.
    keys: Vec<String>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, path, .. }: Input<Keys, Nothing, LevelPath>,
) -> Result<Json<Success>, Error> {
    permit(&access, path.level)?;
    let wrong = |problems| refused(problems, "keys", &ROUTE);
    let documents = Documents::of(&app, &access.project.id).await?;
    let mut config = Config::of(&access.project, &documents.own);
    body.keys.iter().try_for_each(|key| config.reset(path.level, key)).map_err(wrong)?;
    write(&app, access, &config, &documents).await?.map_err(wrong)?;
    Ok(Json(SUCCESS))
}
