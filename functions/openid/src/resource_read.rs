//! `GET /api/v1/internal/oauth-resources/{id}`: returns a resource.

use api::http::TableAction::{BatchGetItem, GetItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::openid::resource_input::ResourceView;

use crate::resources::{ResourcePath, found};

pub const ROUTE: Route = Route::get("openid-resource-read", "/api/v1/internal/oauth-resources/{id}")
    .summary("Returns a resource")
    .table(&[BatchGetItem, GetItem])
    .errors(&[ErrorCode::OauthResourceNotFound]);

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, ResourcePath>,
) -> Result<VersionedResponse<Json<ResourceView>>, Error> {
    let row = found(&access, path.id).await?;
    Ok(VersionedResponse { response: Json(ResourceView::of(&row.resource)), version: row.version })
}
