//! `PATCH /api/v1/internal/projects/current`: changes settings of the project. A wrong setting changes nothing.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use shared::http::change::Change;
use shared::http::{Json, Route};
use shared::model::project_patch::ProjectPatch;
use shared::model::project_view::AdminProject;
use shared::product_api::input::Problems;
use shared::product_api::{Access, Admin, Error, Input};

pub const ROUTE: Route = Route::patch("projects-internal-current-update", "/api/v1/internal/projects/current")
    .summary("Changes settings of the project")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<ProjectPatch>,
) -> Result<Json<AdminProject>, Error> {
    check_theme(&app, &access, &body).await?;
    let deployment = app.deployment();
    let project = body.apply(access.project, &deployment);
    let project = project.map_err(|error| Problems::one(&format!("body.{}", error.path), error.message).into_error("PATCH", ROUTE.path))?;
    app.store.update_project(&project, access.project_version).await?;
    Ok(Json(AdminProject::of(&project, app.settings.development)))
}

/// The theme that mails get by default exists. One that is deleted later gives way to ours.
async fn check_theme(app: &App, access: &Access<Admin>, body: &ProjectPatch) -> Result<(), Error> {
    match body.config.as_ref().map(|config| &config.email_theme) {
        Some(Change::Set(theme)) if !app.store.has_theme(&access.project.id, theme.0).await? => {
            Err(Problems::one("body.config.email_theme", "must be the id of a theme").into_error("PATCH", ROUTE.path).into())
        }
        _ => Ok(()),
    }
}
