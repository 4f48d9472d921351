//! `POST /api/v1/users`: creates a user. Requires server access.

use api::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Need, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode, NEW_PASSWORD_ERRORS};
use flows::App;
use flows::accounts::create;
use flows::teams::welcome;
use model::user::User;
use model::user::input::{NewFields, UserBody};
use model::view::user::ServerUser;

use crate::accounts::change::UserChange;
use crate::accounts::list_flags::IgnoredFilters;

pub const ROUTE: Route = Route::post("users-user-create", "/api/v1/users")
    .summary("Creates a user")
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(NEW_PASSWORD_ERRORS)
    .errors(&[
        ErrorCode::PasswordAuthenticationNotEnabled,
        ErrorCode::MagicLinkNotEnabled,
        ErrorCode::OauthProviderNotFoundOrNotEnabled,
        ErrorCode::OauthProviderAccountIdAlreadyUsedForSignIn,
        ErrorCode::UserEmailAlreadyExists,
        ErrorCode::PrimaryEmailRequired,
    ])
    .needs(&[Need::Hashing]);

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, .. }: Input<UserBody<NewFields>, IgnoredFilters>,
) -> Result<CreatedJson<ServerUser>, Error> {
    let mut user = User::new(&app.entropy, app.clock.now());
    user.is_anonymous = body.0.is_anonymous == Some(true);
    let new = UserChange::imported(&access, &user, body.0).await?;
    let mut with = new.apply(&app, &access.project, &mut user)?;
    with.0.extend(welcome(&app, &access.project, &mut user)?);
    create(&app, &access.project.id, &user, with).await?;
    // The user's personal team appears only in later responses.
    Ok(CreatedJson(ServerUser::of(&user, user.signed_up_at, &access.project.config, None)))
}
