//! `GET /api/v1/project-permission-definitions`: the permissions of the project that there are, and what each contains.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::BatchGetItem;
use shared::http::{Json, Route};
use shared::model::permission::Scope;
use shared::product_api::error::Error;
use shared::product_api::input::Ignored;
use shared::product_api::{Access, Admin, Input};

use crate::definitions::{DefinitionsQuery, PermissionDefinitions, list};

pub const ROUTE: Route = Route::get("teams-project-permission-definition-list", "/api/v1/project-permission-definitions")
    .summary("Lists the permissions of the project")
    .table(&[BatchGetItem])
    .errors(&["INVALID_CURSOR"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { query, .. }: Input<Ignored, DefinitionsQuery>,
) -> Result<Json<PermissionDefinitions>, Error> {
    list(&app, &access, Scope::Project, query, ROUTE).map(Json)
}
