//! `GET /api/v1/project-permission-definitions`: lists the project permissions, each with the
//! permissions that it contains.

use api::http::Route;
use api::http::TableAction::BatchGetItem;
use api::product::input::IgnoredBody;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::permission::Scope;

use crate::permissions::definitions::{Definitions, DefinitionsQuery, list};

pub const ROUTE: Route = Route::get("teams-project-permission-definition-list", "/api/v1/project-permission-definitions")
    .summary("Lists the project permissions")
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::InvalidCursor]);

pub async fn handle(access: Access<Admin>, Input { query, .. }: Input<IgnoredBody, DefinitionsQuery>) -> Result<Definitions, Error> {
    list(&access, Scope::Project, query, ROUTE)
}
