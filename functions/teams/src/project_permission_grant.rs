//! `POST /api/v1/project-permissions/{user_id}/{permission_id}`: grants a project permission to a
//! user. Requires server access. Granting a permission again changes nothing.

use std::collections::BTreeSet;

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{CreatedJson, NamedItem, Route};
use api::product::{Access, Server};
use errors::Error;
use model::permission::Grant;
use model::team::ProjectPermission;

use crate::permissions::grants::{PROJECT_GRANT_ERRORS, ProjectGrant, change_project};

pub const ROUTE: Route = Route::post("teams-project-permission-grant", "/api/v1/project-permissions/{user_id}/{permission_id}")
    .summary("Grants a project permission to a user")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(PROJECT_GRANT_ERRORS);

pub async fn handle(access: Access<Server>, wanted: ProjectGrant) -> Result<CreatedJson<ProjectPermission>, Error> {
    let give = |permissions: &mut BTreeSet<Grant>, grant| {
        permissions.insert(grant);
        true
    };
    change_project(&access, wanted, give).await.map(CreatedJson)
}
