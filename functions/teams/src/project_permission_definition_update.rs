//! `PATCH /api/v1/project-permission-definitions/{permission_id}`: updates a project permission.
//! Its grants stay.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::precondition::IfMatch;
use api::product::{Access, Admin, Input};
use errors::Error;
use model::permission::{PermissionDefinition, Scope};

use crate::permissions::definitions::{PermissionPatch, PermissionPath, UPDATE_ERRORS, update};

pub const ROUTE: Route =
    Route::patch("teams-project-permission-definition-update", "/api/v1/project-permission-definitions/{permission_id}")
        .summary("Updates a project permission")
        .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
        .errors(UPDATE_ERRORS);

pub async fn handle(
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<PermissionPatch, Nothing, PermissionPath>,
) -> Result<Json<PermissionDefinition>, Error> {
    update(access, Scope::Project, (path.permission_id, if_match), body, ROUTE).await.map(Json)
}
