//! `DELETE /api/v1/project-permission-definitions/{permission_id}`: deletes a project permission
//! and all its grants.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use flows::literal::{SUCCESS, Success};
use model::permission::Scope;

use crate::permissions::definitions::{PermissionPath, delete};

pub const ROUTE: Route =
    Route::delete("teams-project-permission-definition-delete", "/api/v1/project-permission-definitions/{permission_id}")
        .summary("Deletes a project permission")
        .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
        .errors(&[ErrorCode::PermissionNotFound, ErrorCode::WrongPermissionScope]);

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, PermissionPath>,
) -> Result<Json<Success>, Error> {
    delete(access, Scope::Project, path.permission_id).await?;
    Ok(Json(SUCCESS))
}
