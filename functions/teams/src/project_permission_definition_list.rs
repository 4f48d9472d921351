//! `GET /api/v1/project-permission-definitions`: the permissions of the project that there are, and what each contains.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::input::Ignored;
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use model::permission::Scope;

use crate::permissions::definitions::{DefinitionsQuery, PermissionDefinitions, list};

pub const ROUTE: Route = Route::get("teams-project-permission-definition-list", "/api/v1/project-permission-definitions")
    .summary("Lists the permissions of the project")
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::InvalidCursor]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { query, .. }: Input<Ignored, DefinitionsQuery>,
) -> Result<Json<PermissionDefinitions>, Error> {
    list(&app, &access, Scope::Project, query, ROUTE).map(Json)
}
