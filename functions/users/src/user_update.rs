//! `PATCH /api/v1/users/{user_id}`: a server changes a user. A new password, or none any more, ends all its sessions.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Named, Route};
use api::product::input::Nothing;
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, KnownError};
use flows::App;
use flows::accounts::read;
use model::user::input::{Any, UserBody};
use model::user::view::ServerUser;

use crate::accounts::change::UserChange;
use crate::accounts::paths::UserPath;

pub const ROUTE: Route = Route::patch("users-user-update", "/api/v1/users/{user_id}")
    .summary("Changes a user")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .reads(&[Named::User])
    .errors(&[
        "USER_NOT_FOUND",
        "CANNOT_GET_OWN_USER_WITHOUT_USER",
        "PASSWORD_AUTHENTICATION_NOT_ENABLED",
        "PASSWORD_TOO_SHORT",
        "PASSWORD_TOO_LONG",
        "PASSWORD_REQUIREMENTS_NOT_MET",
        "MAGIC_LINK_NOT_ENABLED",
        "TEAM_MEMBERSHIP_NOT_FOUND",
        "USER_EMAIL_ALREADY_EXISTS",
        "PRIMARY_EMAIL_REQUIRED",
        "TOO_MANY_CONTACT_CHANNELS",
    ])
    .hashes_passwords();

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, path, .. }: Input<UserBody<Any>, Nothing, UserPath>,
) -> Result<Json<ServerUser>, Error> {
    let project = &access.project;
    let id = access.user_id(path.user_id)?;
    let row = read(&access, id).await?.ok_or(KnownError::UserNotFound)?;
    let new = UserChange::new(&app, &access, &row.user, body.0).await?;
    let (row, team) = Box::pin(new.make(&app, &access, row, KnownError::UserNotFound)).await?;
    Ok(Json(ServerUser::of(&row.user, row.last_active_at, &project.config, team.as_ref())))
}
