//! `PATCH /api/v1/internal/config/override/{level}`: puts values into a level of the configuration. A wrong value changes nothing.

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

use crate::configuration::overrides::{self, Documents, LevelPath, parse, permit, refused, write};

pub const ROUTE: Route = Route::patch("projects-config-override-update", "/api/v1/internal/config/override/{level}")
    .summary("Puts values into a level of the configuration")
    .table(&overrides::CHANGE)
    .errors(overrides::CHANGE_ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ConfigValues {
    /// The JSON text of an object, whose keys may be paths with dots. Each value replaces everything below its key; `null` takes it out.
    #[schema(example = r#"{"auth.allowSignUp":false}"#)]
    config_override_string: String,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, path, .. }: Input<ConfigValues, Nothing, LevelPath>,
) -> Result<Json<Success>, Error> {
    permit(&access, path.level)?;
    let wrong = |problems| refused(problems, "config_override_string", &ROUTE);
    let documents = Documents::of(&app, &access.project.id).await?;
    let mut config = Config::of(&access.project, &documents.own);
    parse(&body.config_override_string).and_then(|values| config.merge(path.level, values)).map_err(wrong)?;
    write(&app, access, &config, &documents).await?.map_err(wrong)?;
    Ok(Json(SUCCESS))
}
