//! `GET /api/v1/users/{user_id}`: returns a user with all fields that servers may see.

use api::http::TableAction::{BatchGetItem, GetItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::{IgnoredBody, UserPath};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Input, Server};
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::{read, selected_team};
use model::view::user::ServerUser;

use crate::accounts::list_flags::IgnoredFilters;

pub const ROUTE: Route = Route::get("users-user-read", "/api/v1/users/{user_id}")
    .summary("Returns a user")
    .table(&[BatchGetItem, GetItem])
    .reads(&[NamedItem::User])
    .errors(&[ErrorCode::UserNotFound, ErrorCode::CannotGetOwnUserWithoutUser]);

pub async fn handle(
    access: Access<Server>,
    Input { path, .. }: Input<IgnoredBody, IgnoredFilters, UserPath>,
) -> Result<VersionedResponse<Json<ServerUser>>, Error> {
    let project = &access.project;
    let row = read(&access, access.user_id(path.user_id)?).await?.ok_or(KnownError::UserNotFound)?;
    let team = selected_team(&access.prefetched, &project.id, &row.user).await?;
    let response = Json(ServerUser::of(&row.user, row.last_active_at, &project.config, team.as_ref()));
    Ok(VersionedResponse { response, version: row.version })
}
