//! The levels of the configuration, as requests name, read and change them.

use deserr::Deserr;
use serde_json::{Map, Value};
use shared::App;
use shared::model::config::{self, Config, Level};
use shared::model::project_patch::Secrets;
use shared::product_api::input::Problems;
use shared::product_api::{Access, Error, KnownError, Server};
use utoipa::ToSchema;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct LevelPath {
    pub(crate) level: Level,
}

/// The errors of every operation on a level.
pub(crate) const ERRORS: [&str; 1] = ["INSUFFICIENT_ACCESS_TYPE"];

/// A server may do with the branch what an administrator may do with every level.
pub(crate) fn permit(access: &Access<Server>, level: Level) -> Result<(), KnownError> {
    if level == Level::Branch || access.level == shared::product_api::access::Level::Admin {
        return Ok(());
    }
    Err(KnownError::InsufficientAccessType { actual_access_type: access.level.name().to_owned(), allowed_access_types: vec!["admin"] })
}

/// Reads the JSON text of an object.
pub(crate) fn parse(text: &str) -> Result<Map<String, Value>, Problems> {
    serde_json::from_str(text).map_err(|error| Problems::one("", format!("must be the JSON text of an object: {error}")))
}

/// Makes a changed configuration the settings of the project, all or nothing.
pub(crate) async fn write(app: &App, access: Access<Server>, config: &Config) -> Result<Result<(), Problems>, Error> {
    let secrets = Secrets { sealer: &app.sealer, entropy: &app.entropy };
    let project = match config::read(config, access.project, &secrets) {
        Ok(project) => project,
        Err(problems) => return Ok(Err(problems)),
    };
    app.store.update_project(&project, access.project_version).await?;
    Ok(Ok(()))
}

/// What is wrong with the text in a field of the body.
pub(crate) fn refused(problems: Problems, field: &str, method: &str, path: &str) -> Error {
    problems.within(&format!("body.{field}")).into_error(method, path).into()
}
