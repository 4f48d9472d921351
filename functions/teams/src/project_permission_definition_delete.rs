//! `DELETE /api/v1/project-permission-definitions/{permission_id}`: deletes a permission of the project; nobody has it any more.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Admin, Input};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use flows::literal::{SUCCESS, Success};
use model::permission::Scope;

use crate::permissions::definitions::{PermissionPath, delete};

pub const ROUTE: Route =
    Route::delete("teams-project-permission-definition-delete", "/api/v1/project-permission-definitions/{permission_id}")
        .summary("Deletes a permission of the project")
        .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
        .errors(&[ErrorCode::PermissionNotFound, ErrorCode::WrongPermissionScope]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Admin>,
    Input { path, .. }: Input<Ignored, Nothing, PermissionPath>,
) -> Result<Json<Success>, Error> {
    delete(&app, access, Scope::Project, path.permission_id).await?;
    Ok(Json(SUCCESS))
}
