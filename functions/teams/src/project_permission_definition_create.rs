//! `POST /api/v1/project-permission-definitions`: defines a project permission.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Route};
use api::product::{Access, Admin, Input};
use errors::Error;
use model::permission::{PermissionDefinition, Scope};

use crate::permissions::definitions::{CREATE_ERRORS, NewPermission, create};

pub const ROUTE: Route = Route::post("teams-project-permission-definition-create", "/api/v1/project-permission-definitions")
    .summary("Defines a project permission")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(CREATE_ERRORS);

pub async fn handle(access: Access<Admin>, Input { body, .. }: Input<NewPermission>) -> Result<CreatedJson<PermissionDefinition>, Error> {
    create(access, Scope::Project, body, ROUTE).await.map(CreatedJson)
}
