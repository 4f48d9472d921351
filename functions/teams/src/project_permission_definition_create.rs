//! `POST /api/v1/project-permission-definitions`: defines a permission of the project.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Created, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::permission::{PermissionDefinition, Scope};

use crate::permissions::definitions::{NewPermission, create};

pub const ROUTE: Route = Route::post("teams-project-permission-definition-create", "/api/v1/project-permission-definitions")
    .summary("Defines a permission of the project")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[
        ErrorCode::PermissionIdAlreadyExists,
        ErrorCode::ContainedPermissionNotFound,
        ErrorCode::PermissionContainsItself,
        ErrorCode::TooManyPermissions,
    ]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<NewPermission>,
) -> Result<Created<PermissionDefinition>, Error> {
    create(&app, access, Scope::Project, body, ROUTE).await.map(Created)
}
