//! `POST /api/v1/project-permissions/{user_id}/{permission_id}`: grants a project permission to a
//! user. Requires server access. Granting it again changes nothing.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Created, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, KnownError};
use flows::App;
use flows::accounts::{With, change_read, read};
use model::permission::Scope;
use model::team::ProjectPermission;

use crate::permissions::grants::{PROJECT_GRANT_ERRORS, ProjectPermissionPath};

pub const ROUTE: Route = Route::post("teams-project-permission-grant", "/api/v1/project-permissions/{user_id}/{permission_id}")
    .summary("Grants a project permission to a user")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[Named::User])
    .errors(PROJECT_GRANT_ERRORS);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<Ignored, Nothing, ProjectPermissionPath>,
) -> Result<Created<ProjectPermission>, Error> {
    let user_id = access.user_id(path.user_id)?;
    let grant = access.project.config.rbac.grant(&path.permission_id, Scope::Project)?;
    let give = |user: &mut model::user::User| {
        user.permissions.insert(grant.clone());
        Ok(With::default())
    };
    let row = read(&access, user_id).await?.ok_or(KnownError::UserNotFound)?;
    change_read(&app, &access.project.id, row, KnownError::UserNotFound, give).await?;
    Ok(Created(ProjectPermission { id: path.permission_id, user_id }))
}
