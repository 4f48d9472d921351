//! `DELETE /api/v1/users/{user_id}`: deletes a user. Requires server access. All sessions of the
//! user end. Other users can use the email addresses and linked accounts immediately.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, Query};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, UserPath};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::delete;
use flows::literal::{SUCCESS, Success};

use crate::accounts::list_flags::IgnoredFilters;

pub const ROUTE: Route = Route::delete("users-user-delete", "/api/v1/users/{user_id}")
    .summary("Deletes a user")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, Query])
    .errors(&[ErrorCode::UserNotFound, ErrorCode::CannotGetOwnUserWithoutUser]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<IgnoredBody, IgnoredFilters, UserPath>,
) -> Result<Json<Success>, Error> {
    let id = access.user_id(path.user_id)?;
    delete(&app, &access.project.id, id, KnownError::UserNotFound).await?;
    Ok(Json(SUCCESS))
}
