//! `DELETE /api/v1/auth/sessions/{id}`: ends a session that is not the current session. Signing out
//! ends the current session.
//!
//! A client can end only the sessions of its user. Servers may omit the user, as the published SDK
//! does.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, Query};
use api::http::{Json, Route};
use api::product::input::IgnoredBody;
use api::product::{Access, Client, Input};
use axum::extract::State;
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::App;
use flows::literal::{SUCCESS, Success};
use model::limit::Limit;
use model::trail::Event;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::SessionId;
use wire::level::Level;
use wire::problem::Problems;

pub const ROUTE: Route = Route::delete("auth-session-delete", "/api/v1/auth/sessions/{id}")
    .summary("Ends a session other than the current one")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, DeleteItem, GetItem, Query])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::CannotDeleteCurrentSession, ErrorCode::SessionNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SessionPath {
    id: SessionId,
}

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SessionQuery {
    /// The id of the session's user, or `me`. Servers can omit it.
    user_id: Option<UserRef>,
}

pub async fn handle(
    State(app): State<App>,
    access: Access<Client>,
    Input { query, path, .. }: Input<IgnoredBody, SessionQuery, SessionPath>,
) -> Result<Json<Success>, Error> {
    let project = &access.project.id;
    let user_id = match query.user_id {
        Some(user) => Some(access.user_id(user)?),
        None if access.level >= Level::Server => app.store.user_of_session(project, path.id).await?,
        None => return Err(ROUTE.schema_error(&Problems::one("query.user_id", "is required")).into()),
    };
    if access.user.as_ref().is_some_and(|user| user.session.id == path.id) {
        return Err(KnownError::CannotDeleteCurrentSession.into());
    }
    let user_id = user_id.ok_or(KnownError::SessionNotFound)?;
    if app.store.end_session(project, user_id, path.id, Event::SessionsEnded).await? {
        Ok(Json(SUCCESS))
    } else {
        Err(KnownError::SessionNotFound.into())
    }
}
