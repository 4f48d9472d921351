//! `DELETE /api/v1/users/me`: deletes the signed-in user. If a client sends the request, the
//! project must permit it, and may require a recent sign-in.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::accounts::delete;
use flows::limits::ended_codes;
use flows::literal::{SUCCESS, Success};
use wire::level::Level;

pub const ROUTE: Route = Route::delete("users-me-delete", "/api/v1/users/me")
    .summary("Deletes the signed-in user")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, Query])
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::UserDeletionNotEnabled, ErrorCode::ReauthenticationRequired]);

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<Json<Success>, Error> {
    let user = &access.own_user()?.row.user;
    if access.level == Level::Client && !access.project.config.client_user_deletion_enabled {
        return Err(KnownError::UserDeletionNotEnabled.into());
    }
    // Without this check, someone who stole an old session could delete the account, although such
    // a session does not permit changing how the user signs in.
    access.check_fresh()?;
    if access.level == Level::Client {
        for counter in ended_codes(&app, user) {
            app.store.count(&access.project.id, &counter).await?;
        }
    }
    delete(&app, &access.project.id, user.id, KnownError::CannotGetOwnUserWithoutUser).await?;
    Ok(Json(SUCCESS))
}
