//! `POST /api/v1/team-permission-definitions`: defines a team permission.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Route};
use api::product::{Access, Admin, Input};
use errors::Error;
use model::permission::{PermissionDefinition, Scope};

use crate::permissions::definitions::{CREATE_ERRORS, NewPermission, create};

pub const ROUTE: Route = Route::post("teams-permission-definition-create", "/api/v1/team-permission-definitions")
    .summary("Defines a team permission")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(CREATE_ERRORS);

pub async fn handle(access: Access<Admin>, Input { body, .. }: Input<NewPermission>) -> Result<CreatedJson<PermissionDefinition>, Error> {
    create(access, Scope::Team, body, ROUTE).await.map(CreatedJson)
}
