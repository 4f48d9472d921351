//! `GET /api/v1/internal/config/source`: returns the source from which the branch level of the
//! configuration was pushed.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use errors::Error;
use model::project::source::ConfigSource;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("projects-config-source-read", "/api/v1/internal/config/source")
    .summary("Returns the source that the configuration was pushed from")
    .table(&[BatchGetItem]);

#[derive(Serialize, ToSchema)]
#[schema(as = PushedFrom)]
pub struct ConfigSourceView {
    /// `unlinked` if nothing was pushed, or if the link has been removed.
    source: ConfigSource,
}

pub async fn handle(access: Access<Admin>, _: Input) -> Result<Json<ConfigSourceView>, Error> {
    Ok(Json(ConfigSourceView { source: access.project.config_source.clone() }))
}
