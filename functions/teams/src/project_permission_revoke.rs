//! `DELETE /api/v1/project-permissions/{user_id}/{permission_id}`: revokes a project permission of
//! a user. Requires server access.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, KnownError};
use flows::App;
use flows::accounts::{With, change_read, read};
use flows::literal::{SUCCESS, Success};
use model::permission::Scope;
use model::user::User;

use crate::permissions::grants::{PROJECT_GRANT_ERRORS, ProjectPermissionPath};

pub const ROUTE: Route = Route::delete("teams-project-permission-revoke", "/api/v1/project-permissions/{user_id}/{permission_id}")
    .summary("Revokes a user's project permission")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[Named::User])
    .errors(PROJECT_GRANT_ERRORS);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<Ignored, Nothing, ProjectPermissionPath>,
) -> Result<Json<Success>, Error> {
    let user_id = access.user_id(path.user_id)?;
    let grant = access.project.config.rbac.grant(&path.permission_id, Scope::Project)?;
    let take = |user: &mut User| {
        if user.permissions.remove(&grant) {
            return Ok(With::default());
        }
        Err(KnownError::PermissionNotFound { permission_id: path.permission_id.to_string() }.into())
    };
    let row = read(&access, user_id).await?.ok_or(KnownError::UserNotFound)?;
    change_read(&app, &access.project.id, row, KnownError::UserNotFound, take).await?;
    Ok(Json(SUCCESS))
}
