//! `DELETE /api/v1/internal/config/source`: removes the record of the source from which the
//! configuration was pushed. The configuration's values remain.

use std::sync::Arc;

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use flows::context::Context;
use flows::literal::{SUCCESS, Success};
use model::project::source::ConfigSource;

pub const ROUTE: Route = Route::delete("projects-config-source-delete", "/api/v1/internal/config/source")
    .summary("Unlinks the configuration from its source")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem]);

pub async fn handle(State(app): State<App>, access: Access<Admin>, _: Input) -> Result<Json<Success>, Error> {
    let Context { project, project_version, .. } = access.into_context();
    let mut project = Arc::unwrap_or_clone(project);
    project.config_source = ConfigSource::Unlinked;
    app.store.update_project(&project, project_version, None).await?;
    Ok(Json(SUCCESS))
}
