//! `PATCH /api/v1/project-permission-definitions/{permission_id}`: changes a permission of the project; whoever has it keeps it.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::permission::{PermissionDefinition, Scope};

use crate::permissions::definitions::{PermissionPatch, PermissionPath, update};

pub const ROUTE: Route =
    Route::patch("teams-project-permission-definition-update", "/api/v1/project-permission-definitions/{permission_id}")
        .summary("Changes a permission of the project")
        .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
        .errors(&[
            ErrorCode::PermissionNotFound,
            ErrorCode::WrongPermissionScope,
            ErrorCode::PermissionIdAlreadyExists,
            ErrorCode::ContainedPermissionNotFound,
            ErrorCode::PermissionContainsItself,
        ]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, path, .. }: Input<PermissionPatch, Nothing, PermissionPath>,
) -> Result<Json<PermissionDefinition>, Error> {
    update(&app, access, Scope::Project, path.permission_id, body, ROUTE).await.map(Json)
}
