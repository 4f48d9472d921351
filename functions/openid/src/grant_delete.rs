//! `DELETE /api/v1/users/{user_id}/grants/{grant_id}`: ends a grant. All sessions of the client
//! that depend on the grant end immediately.

use api::http::TableAction::{BatchGetItem, DeleteItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Client, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError, USER_REFERENCE_ERRORS};
use flows::literal::{SUCCESS, Success};
use model::limit::Limit;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::OauthGrantId;

pub const ROUTE: Route = Route::delete("openid-grant-delete", "/api/v1/users/{user_id}/grants/{grant_id}")
    .summary("Ends a user's grant to an OAuth client")
    .limit(Limit::SecureAccount)
    .table(&[BatchGetItem, DeleteItem])
    .errors(USER_REFERENCE_ERRORS)
    .errors(&[ErrorCode::GrantNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct GrantPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    user_id: UserRef,
    grant_id: OauthGrantId,
}

pub async fn handle(access: Access<Client>, Input { path, .. }: Input<IgnoredBody, Nothing, GrantPath>) -> Result<Json<Success>, Error> {
    let user = access.user_id(path.user_id)?;
    let existed = access.app.store.end_oauth_grant(&access.project.id, user, path.grant_id).await?;
    if existed { Ok(Json(SUCCESS)) } else { Err(KnownError::GrantNotFound.into()) }
}
