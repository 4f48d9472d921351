//! `PATCH /api/v1/users/me`: updates the signed-in user. A client can set only the fields that
//! users control. A server can set all fields.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::{Access, Client, Input};
use errors::{Error, ErrorCode, KnownError, USER_FIELD_ERRORS};
use flows::quota;
use model::quota::Quota;
use model::user::input::CurrentUserBody;
use model::view::user::UserView;
use wire::change::Change;

use crate::accounts::change::UserChange;

pub const ROUTE: Route = Route::patch("users-me-update", "/api/v1/users/me")
    .summary("Updates the signed-in user")
    .table(&[BatchGetItem, DeleteItem, GetItem, PutItem, UpdateItem])
    .errors(USER_FIELD_ERRORS)
    .errors(&[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::LastSignInMethod, ErrorCode::ReauthenticationRequired]);

pub async fn handle(access: Access<Client>, Input { body, .. }: Input<CurrentUserBody>) -> Result<Json<UserView>, Error> {
    let input = body.read(access.level).map_err(|problems| ROUTE.schema_error(&problems))?;
    let row = access.own_user()?.row.clone();
    if matches!(input.primary_email, Change::Set(_)) {
        quota::check(&access, Quota::ContactChannels)?;
    }
    if matches!(input.totp_secret_base64, Change::Set(_)) {
        quota::check(&access, Quota::Authenticators)?;
    }
    let new = UserChange::new(&access, &row.user, input).await?;
    let (row, team) = Box::pin(new.make(&access, row, KnownError::CannotGetOwnUserWithoutUser)).await?;
    let view = UserView::of(&row.user, row.last_active_at, &access.project.config, access.level, team.as_ref());
    Ok(Json(view.restricted(access.restricted_reason(&row.user))))
}
