//! `PATCH /api/v1/users/{user_id}`: updates a user. Requires server access. Setting or removing the
//! password ends all sessions of the user.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Need, Route};
use api::product::input::UserPath;
use api::product::precondition::{IfMatch, VersionedResponse};
use api::product::{Access, Input, Server};
use errors::{Error, ErrorCode, KnownError, USER_FIELD_ERRORS};
use flows::accounts::read;
use model::user::input::{AnyFields, UserBody};
use model::view::user::ServerUser;

use crate::accounts::change::UserChange;
use crate::accounts::list_flags::IgnoredFilters;

pub const ROUTE: Route = Route::patch("users-user-update", "/api/v1/users/{user_id}")
    .summary("Updates a user")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(USER_FIELD_ERRORS)
    .errors(&[ErrorCode::UserNotFound, ErrorCode::CannotGetOwnUserWithoutUser])
    .needs(&[Need::Hashing]);

pub async fn handle(
    access: Access<Server>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<UserBody<AnyFields>, IgnoredFilters, UserPath>,
) -> Result<VersionedResponse<Json<ServerUser>>, Error> {
    let project = &access.project;
    let id = access.user_id(path.user_id)?;
    let row = read(&access, id).await?.ok_or(KnownError::UserNotFound)?;
    if_match.check(row.version)?;
    let mut new = UserChange::new(&access, &row.user, body.0).await?;
    new.seen = if_match.is_given().then(|| row.user.clone());
    let (row, team) = Box::pin(new.make(&access, row, KnownError::UserNotFound)).await?;
    let response = Json(ServerUser::of(&row.user, row.last_active_at, &project.config, team.as_ref()));
    Ok(VersionedResponse { response, version: row.version })
}
