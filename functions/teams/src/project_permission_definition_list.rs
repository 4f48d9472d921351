//! `GET /api/v1/project-permission-definitions`: lists the project permissions and the permissions
//! that each contains.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::input::Ignored;
use api::product::page::List;
use api::product::precondition::Versioned;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::permission::{PermissionDefinition, Scope};

use crate::permissions::definitions::{DefinitionsQuery, list};

pub const ROUTE: Route = Route::get("teams-project-permission-definition-list", "/api/v1/project-permission-definitions")
    .summary("Lists the project permissions")
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::InvalidCursor]);

pub async fn handle(
    access: Access<Admin>,
    Input { query, .. }: Input<Ignored, DefinitionsQuery>,
) -> Result<Versioned<Json<List<PermissionDefinition>>>, Error> {
    let response = Json(list(&access, Scope::Project, query, ROUTE)?);
    Ok(Versioned { response, version: access.project_version })
}
