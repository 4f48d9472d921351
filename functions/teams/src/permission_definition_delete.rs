//! `DELETE /api/v1/team-permission-definitions/{permission_id}`: deletes a permission of a team; nobody has it any more.

use axum::extract::State;
use shared::App;
use shared::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use shared::http::{Json, Route};
use shared::model::permission::Scope;
use shared::product_api::error::Error;
use shared::product_api::input::{Ignored, Nothing};
use shared::product_api::literal::{SUCCESS, Success};
use shared::product_api::{Access, Admin, Input};

use crate::definitions::{PermissionPath, delete};

pub const ROUTE: Route = Route::delete("teams-permission-definition-delete", "/api/v1/team-permission-definitions/{permission_id}")
    .summary("Deletes a permission of a team")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&["PERMISSION_NOT_FOUND", "WRONG_PERMISSION_SCOPE"]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, PermissionPath>,
) -> Result<Json<Success>, Error> {
    delete(&app, access, Scope::Team, path.permission_id).await?;
    Ok(Json(SUCCESS))
}
