//! `DELETE /api/v1/internal/oauth-clients/{id}`: deletes a client. Its sessions end immediately.
//! The grants that users have given the client lose their effect, but stay in the users' lists
//! until the users remove them.

use api::http::TableAction::{BatchGetItem, DeleteItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode, KnownError};
use flows::literal::{SUCCESS, Success};
use model::openid::client::Origin;

use crate::clients::{ClientPath, found};

pub const ROUTE: Route = Route::delete("openid-client-delete", "/api/v1/internal/oauth-clients/{id}")
    .summary("Deletes an OAuth client")
    .table(&[BatchGetItem, DeleteItem, GetItem, UpdateItem])
    .errors(&[ErrorCode::OauthClientNotDeletable, ErrorCode::OauthClientNotFound]);

pub async fn handle(access: Access<Admin>, Input { path, .. }: Input<IgnoredBody, Nothing, ClientPath>) -> Result<Json<Success>, Error> {
    let client = found(&access, path.id).await?.client;
    // Its next authorization request would create the client again, with all its grants.
    if matches!(client.origin, Some(Origin::Document { .. })) {
        return Err(KnownError::OauthClientNotDeletable.into());
    }
    let existed = access.app.store.delete_oauth_client(&access.project.id, &client).await?;
    if existed { Ok(Json(SUCCESS)) } else { Err(KnownError::OauthClientNotFound.into()) }
}
