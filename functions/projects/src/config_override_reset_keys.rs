//! `POST /api/v1/internal/config/override/{level}/reset-keys`: removes keys, and everything below
//! them, from a level of the configuration. The keys then take their values from other levels, or
//! their defaults.

use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Input, Server};
use deserr::Deserr;
use errors::Error;
use flows::literal::{SUCCESS, Success};
use model::project::config::LevelChange;
use utoipa::ToSchema;

use crate::configuration::overrides::{self, LevelPath, apply, permit, refused};

pub const ROUTE: Route = Route::post("projects-config-override-reset-keys", "/api/v1/internal/config/override/{level}/reset-keys")
    .summary("Removes keys from a level of the configuration")
    .table(&overrides::CHANGE)
    .errors(overrides::CHANGE_ERRORS);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct Keys {
    /// Dotted paths, such as `auth.signUpRules`.
    keys: Vec<String>,
}

pub async fn handle(access: Access<Server>, Input { body, path, .. }: Input<Keys, Nothing, LevelPath>) -> Result<Json<Success>, Error> {
    permit(&access, path.level)?;
    let wrong = |problems| refused(problems, "keys", &ROUTE);
    apply(access, path.level, &LevelChange::Reset(body.keys), None).await?.map_err(wrong)?;
    Ok(Json(SUCCESS))
}
