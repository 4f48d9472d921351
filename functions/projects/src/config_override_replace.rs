//! `PUT /api/v1/internal/config/override/{level}`: replaces a level of the configuration: what is not in it is by default so. A wrong value
//! changes nothing.

use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Input, Server};
use axum::extract::State;
use deserr::Deserr;
use errors::Error;
use flows::App;
use flows::literal::{SUCCESS, Success};
use model::metadata::Metadata;
use model::project::config::Level;
use model::project::config::settings::Config;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::configuration::overrides::{self, Documents, LevelPath, parse, permit, refused, write};

pub const ROUTE: Route = Route::put("projects-config-override-replace", "/api/v1/internal/config/override/{level}")
    .summary("Replaces a level of the configuration")
    .table(&overrides::CHANGE)
    .errors(overrides::CHANGE_ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewConfig {
    /// The JSON text of an object, whose keys may be paths with dots.
    #[schema(example = r#"{"auth.password.allowSignIn":true}"#)]
    config_string: String,
    /// Where the configuration comes from, required for the branch. It is for the reader of the request, and is not kept.
    #[deserr(default)]
    #[schema(value_type = Option<Object>)]
    source: Option<Metadata>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, path, .. }: Input<NewConfig, Nothing, LevelPath>,
) -> Result<Json<Success>, Error> {
    permit(&access, path.level)?;
    if path.level == Level::Branch && body.source.is_none() {
        return Err(ROUTE.schema_error(&Problems::one("body.source", "is required for the branch")).into());
    }
    let wrong = |problems| refused(problems, "config_string", &ROUTE);
    let documents = Documents::of(&app, &access.project.id).await?;
    let mut config = Config::of(&access.project, &documents.own);
    config.clear(path.level);
    parse(&body.config_string).and_then(|values| config.merge(path.level, values)).map_err(wrong)?;
    write(&app, access, &config, &documents).await?.map_err(wrong)?;
    Ok(Json(SUCCESS))
}
