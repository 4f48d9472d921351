//! `PUT /api/v1/internal/config/override/{level}`: replaces a level of the configuration. Keys that
//! the request omits take their values from other levels or, if no level contains them, their
//! defaults. If one of the values is invalid, nothing changes.

use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Input, Server};
use deserr::Deserr;
use errors::Error;
use flows::literal::{SUCCESS, Success};
use model::project::config::{Level, LevelChange};
use model::project::source::ConfigSource;
use utoipa::ToSchema;
use wire::problem::Problems;

use crate::configuration::overrides::{self, LevelPath, apply, parse, permit, refused};

pub const ROUTE: Route = Route::put("projects-config-override-replace", "/api/v1/internal/config/override/{level}")
    .summary("Replaces a level of the configuration")
    .table(&overrides::CHANGE)
    .errors(overrides::CHANGE_ERRORS);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewConfig {
    /// A JSON object as text. Its keys can be dotted paths.
    #[schema(example = r#"{"auth.password.allowSignIn":true}"#)]
    config_string: String,
    /// The source from which the configuration comes. The field is required for the level `branch`,
    /// and ignored for other levels.
    source: Option<ConfigSource>,
}

pub async fn handle(
    access: Access<Server>,
    Input { body, path, .. }: Input<NewConfig, Nothing, LevelPath>,
) -> Result<Json<Success>, Error> {
    permit(&access, path.level)?;
    let source = body.source.filter(|_| path.level == Level::Branch);
    match &source {
        None if path.level == Level::Branch => {
            return Err(ROUTE.schema_error(&Problems::one("body.source", "is required for the level `branch`")).into());
        }
        Some(source) if !source.is_short() => {
            return Err(ROUTE.schema_error(&Problems::one("body.source", "must not have a field longer than 1024 bytes")).into());
        }
        _ => {}
    }
    let wrong = |problems| refused(problems, "config_string", &ROUTE);
    let values = parse(&body.config_string).map_err(wrong)?;
    apply(access, path.level, &LevelChange::Replace(values), source).await?.map_err(wrong)?;
    Ok(Json(SUCCESS))
}
