//! `POST /api/v1/team-permission-definitions`: defines a permission of a team.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Created, Route};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::permission::{PermissionDefinition, Scope};

use crate::permissions::definitions::{NewPermission, create};

pub const ROUTE: Route = Route::post("teams-permission-definition-create", "/api/v1/team-permission-definitions")
    .summary("Defines a permission of a team")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&["PERMISSION_ID_ALREADY_EXISTS", "CONTAINED_PERMISSION_NOT_FOUND", "PERMISSION_CONTAINS_ITSELF", "TOO_MANY_PERMISSIONS"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { body, .. }: Input<NewPermission>,
) -> Result<Created<PermissionDefinition>, Error> {
    create(&app, access, Scope::Team, body, ROUTE).await.map(Created)
}
