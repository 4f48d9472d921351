//! `PATCH /api/v1/project-permission-definitions/{permission_id}`: updates a project permission.
//! The permission's grants are kept.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::precondition::IfMatch;
use api::product::{Access, Admin};
use errors::Error;
use model::permission::{PermissionDefinition, Scope};

use crate::permissions::definitions::{UPDATE_ERRORS, Update, update};

pub const ROUTE: Route =
    Route::patch("teams-project-permission-definition-update", "/api/v1/project-permission-definitions/{permission_id}")
        .summary("Updates a project permission")
        .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
        .errors(UPDATE_ERRORS);

pub async fn handle(access: Access<Admin>, if_match: IfMatch, change: Update) -> Result<Json<PermissionDefinition>, Error> {
    update(access, Scope::Project, if_match, change, ROUTE).await.map(Json)
}
