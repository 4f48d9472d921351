//! `DELETE /api/v1/auth/sessions`: ends all sessions of a user and invalidates all earlier codes of
//! the user. The current session stays unless `include_current` is set.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, NamedItem, Route};
use api::product::input::{Flag, IgnoredBody};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::accounts::{ExtraWrites, change_as, read};
use flows::literal::{SUCCESS, Success};
use model::limit::Limit;
use model::user::reference::UserRef;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::delete("auth-session-delete-all", "/api/v1/auth/sessions")
    .summary("Ends all sessions of a user except the current one")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .reads(&[NamedItem::User])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::UserIdDoesNotExist]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EndQuery {
    /// A user's id, or `me`. Default: `me`. The parameter is required with server access.
    user_id: Option<UserRef>,
    /// Whether to end the current session as well. Default: `false`.
    include_current: Flag,
}

pub async fn handle(access: Access<Client>, Input { query, .. }: Input<IgnoredBody, EndQuery>) -> Result<Json<Success>, Error> {
    let user_id = access.named_user(query.user_id, &ROUTE)?;
    let missing = KnownError::UserIdDoesNotExist { user_id: user_id.to_string() };
    let row = read(&access, user_id).await?.ok_or_else(|| missing.clone())?;
    let current = access.user.as_ref().filter(|current| current.row.user.id == user_id).map(|current| current.session.id);
    let kept = current.filter(|_| !query.include_current.is_set());
    change_as(&access, row, missing, |user| {
        user.end_sessions(kept);
        Ok(ExtraWrites::default())
    })
    .await?;
    Ok(Json(SUCCESS))
}
