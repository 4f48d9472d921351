//! `PATCH /api/v1/users/me`: changes the signed-in user. A client sets what is the user's own to say; a server sets every field.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, KnownError};
use flows::App;
use model::user::input::CurrentUserBody;
use model::user::view::UserView;

use crate::accounts::change::UserChange;

pub const ROUTE: Route = Route::patch("users-me-update", "/api/v1/users/me")
    .summary("Changes the signed-in user")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .errors(&[
        "CANNOT_GET_OWN_USER_WITHOUT_USER",
        "REAUTHENTICATION_REQUIRED",
        "PASSWORD_AUTHENTICATION_NOT_ENABLED",
        "PASSWORD_TOO_SHORT",
        "PASSWORD_TOO_LONG",
        "PASSWORD_REQUIREMENTS_NOT_MET",
        "MAGIC_LINK_NOT_ENABLED",
        "TEAM_MEMBERSHIP_NOT_FOUND",
        "USER_EMAIL_ALREADY_EXISTS",
        "PRIMARY_EMAIL_REQUIRED",
        "TOO_MANY_CONTACT_CHANNELS",
    ]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { body, .. }: Input<CurrentUserBody>,
) -> Result<Json<UserView>, Error> {
    let input = body.read(access.level).map_err(|problems| ROUTE.schema_error(&problems))?;
    let row = access.own_user()?.row.clone();
    let new = UserChange::new(&app, &access, &row.user, input).await?;
    let project = &access.project;
    let (row, team) = Box::pin(new.make(&app, &access, row, KnownError::CannotGetOwnUserWithoutUser)).await?;
    Ok(Json(UserView::of(&row.user, row.last_active_at, &project.config, access.level, team.as_ref())))
}
