//! `DELETE /api/v1/internal/oauth-resources/{id}`: deletes a resource. Clients no longer get tokens
//! for it. Existing tokens are valid until they expire, because the resource itself verifies them.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode, KnownError};
use flows::literal::{SUCCESS, Success};

use crate::resources::ResourcePath;

pub const ROUTE: Route = Route::delete("openid-resource-delete", "/api/v1/internal/oauth-resources/{id}")
    .summary("Deletes a resource")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::OauthResourceNotFound]);

pub async fn handle(access: Access<Admin>, Input { path, .. }: Input<IgnoredBody, Nothing, ResourcePath>) -> Result<Json<Success>, Error> {
    let existed = access.app.store.delete_oauth_resource(&access.project.id, path.id).await?;
    if existed { Ok(Json(SUCCESS)) } else { Err(KnownError::OauthResourceNotFound.into()) }
}
