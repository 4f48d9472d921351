//! `DELETE /api/v1/project-permissions/{user_id}/{permission_id}`: revokes a project permission of
//! a user. Requires server access.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::{Access, Server};
use errors::Error;
use flows::literal::{SUCCESS, Success};

use crate::permissions::grants::{PROJECT_GRANT_ERRORS, ProjectGrant, change_project};

pub const ROUTE: Route = Route::delete("teams-project-permission-revoke", "/api/v1/project-permissions/{user_id}/{permission_id}")
    .summary("Revokes a user's project permission")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(PROJECT_GRANT_ERRORS);

pub async fn handle(access: Access<Server>, unwanted: ProjectGrant) -> Result<Json<Success>, Error> {
    change_project(&access, unwanted, |permissions, grant| permissions.remove(&grant)).await?;
    Ok(Json(SUCCESS))
}
