//! `POST /api/v1/users`: a server creates a user.

use api::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use api::http::{Created, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::{Error, ErrorCode};
use flows::App;
use flows::accounts::create;
use flows::teams::welcome;
use model::user::User;
use model::user::input::{New, UserBody};
use model::user::view::ServerUser;

use crate::accounts::change::UserChange;

pub const ROUTE: Route = Route::post("users-user-create", "/api/v1/users")
    .summary("Creates a user")
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(&[
        ErrorCode::PasswordAuthenticationNotEnabled,
        ErrorCode::PasswordTooShort,
        ErrorCode::PasswordTooLong,
        ErrorCode::PasswordRequirementsNotMet,
        ErrorCode::MagicLinkNotEnabled,
        ErrorCode::OauthProviderNotFoundOrNotEnabled,
        ErrorCode::OauthProviderAccountIdAlreadyUsedForSignIn,
        ErrorCode::UserEmailAlreadyExists,
        ErrorCode::PrimaryEmailRequired,
    ])
    .hashes_passwords();

pub async fn handle(
    State(app): State<App>,
    access: Access<Server>,
    Input { body, .. }: Input<UserBody<New>>,
) -> Result<Created<ServerUser>, Error> {
    let mut user = User::new(&app.entropy, app.clock.now());
    user.is_anonymous = body.0.is_anonymous == Some(true);
    let new = UserChange::new(&app, &access, &user, body.0).await?;
    let mut with = new.apply(&app, &access.project, &mut user)?;
    with.0.extend(welcome(&app, &access.project, &mut user)?);
    create(&app, &access.project.id, &user, with).await?;
    // The team of its own is in later answers.
    Ok(Created(ServerUser::of(&user, user.signed_up_at, &access.project.config, None)))
}
