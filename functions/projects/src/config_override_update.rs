//! `PATCH /api/v1/internal/config/override/{level}`: sets values in a level of the configuration.
//! If one of the values is invalid, nothing changes.

use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Input, Server};
use deserr::Deserr;
use errors::Error;
use flows::literal::{SUCCESS, Success};
use model::project::config::LevelChange;
use utoipa::ToSchema;

use crate::configuration::overrides::{self, LevelPath, apply, parse, permit, refused};

pub const ROUTE: Route = Route::patch("projects-config-override-update", "/api/v1/internal/config/override/{level}")
    .summary("Sets values in a level of the configuration")
    .table(&overrides::CHANGE)
    .errors(overrides::CHANGE_ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ConfigValues {
    /// A JSON object as text. Its keys can be dotted paths. Each value replaces everything below
    /// its key. `null` sets the default, no matter what the other levels contain.
    #[schema(example = r#"{"auth.allowSignUp":false}"#)]
    config_override_string: String,
}

pub async fn handle(
    access: Access<Server>,
    Input { body, path, .. }: Input<ConfigValues, Nothing, LevelPath>,
) -> Result<Json<Success>, Error> {
    permit(&access, path.level)?;
    let wrong = |problems| refused(problems, "config_override_string", &ROUTE);
    let values = parse(&body.config_override_string).map_err(wrong)?;
    apply(access, path.level, &LevelChange::Merge(values), None).await?.map_err(wrong)?;
    Ok(Json(SUCCESS))
}
