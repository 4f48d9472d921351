//! `DELETE /api/v1/project-permissions/{user_id}/{permission_id}`: a server takes a permission of the project from a user.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::{With, change_read, read};
use flows::literal::{SUCCESS, Success};
use model::permission::Scope;
use model::user::User;

use crate::permissions::paths::ProjectPermissionPath;

pub const ROUTE: Route = Route::delete("teams-project-permission-revoke", "/api/v1/project-permissions/{user_id}/{permission_id}")
    .summary("Takes a permission of the project from a user")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[Named::User])
    .errors(&[
        ErrorCode::CannotGetOwnUserWithoutUser,
        ErrorCode::UserNotFound,
        ErrorCode::PermissionNotFound,
        ErrorCode::WrongPermissionScope,
    ]);

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
