//! `DELETE /api/v1/auth/sessions/current`: signs out. The API then no longer accepts the session's
//! access tokens.

use api::http::TableAction::{BatchGetItem, DeleteItem};
use api::http::{Admission, Json, Route};
use api::product::{Access, Client, Input};
use axum::extract::State;
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use flows::literal::{SUCCESS, Success};
use model::limit::Limit;
use model::trail::Event;

pub const ROUTE: Route = Route::delete("auth-session-delete-current", "/api/v1/auth/sessions/current")
    .summary("Signs out: ends the session of the access token")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, DeleteItem])
    .admits(Admission::Restricted)
    .errors(&[ErrorCode::RefreshTokenNotFoundOrExpired]);

pub async fn handle(State(app): State<App>, access: Access<Client>, _: Input) -> Result<Json<Success>, Error> {
    let Some(user) = &access.user else {
        let nobody = KnownError::AccessTokenExpired { expired_at_millis: None, project_id: None, user_id: None, refresh_token_id: None };
        return Err(nobody.into());
    };
    if app.store.end_session(&access.project.id, user.row.user.id, user.session.id, Event::SignOut).await? {
        Ok(Json(SUCCESS))
    } else {
        Err(KnownError::RefreshTokenNotFoundOrExpired.into())
    }
}
