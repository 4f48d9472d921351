//! `DELETE /api/v1/users/{user_id}`: a server deletes a user. Its addresses and accounts are free at once, and its sessions are over.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, Query};
use api::http::{Json, Route};
use api::product::input::{Ignored, Nothing};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::delete;
use flows::literal::{SUCCESS, Success};

use crate::accounts::paths::UserPath;

pub const ROUTE: Route = Route::delete("users-user-delete", "/api/v1/users/{user_id}")
    .summary("Deletes a user")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, Query])
    .errors(&[ErrorCode::UserNotFound, ErrorCode::CannotGetOwnUserWithoutUser]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { path, .. }: Input<Ignored, Nothing, UserPath>,
) -> Result<Json<Success>, Error> {
    let id = access.user_id(path.user_id)?;
    delete(&app, &access.project.id, id, KnownError::UserNotFound).await?;
    Ok(Json(SUCCESS))
}
