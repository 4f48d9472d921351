//! `PATCH /api/v1/internal/oauth-resources/{id}`: changes a resource. In existing sessions, the
//! change takes effect when a client next gets a token for the resource.

use api::http::TableAction::{BatchGetItem, GetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::precondition::{IfMatch, VersionedResponse};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::openid::resource_input::{ResourceInput, ResourceView};
use store::optimistic;

use crate::clients::check_algorithm;
use crate::resources::{ResourcePath, found};

pub const ROUTE: Route = Route::patch("openid-resource-update", "/api/v1/internal/oauth-resources/{id}")
    .summary("Changes a resource")
    .table(&[BatchGetItem, GetItem, UpdateItem])
    .errors(&[ErrorCode::OauthResourceNotFound]);

pub async fn handle(
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<ResourceInput, Nothing, ResourcePath>,
) -> Result<VersionedResponse<Json<ResourceView>>, Error> {
    let (app, now) = (&access.app, access.app.clock.now());
    check_algorithm(&access, body.asks_for_rsa(), &ROUTE).await?;
    let (next, version) = optimistic!(|_| {
        let row = found(&access, path.id).await?;
        if_match.check(row.version)?;
        let next = body.clone().apply(row.resource.clone(), now).map_err(|problems| ROUTE.schema_error(&problems))?;
        app.store.replace_oauth_resource(&access.project.id, &row, &next).await?;
        Ok::<_, Error>((next, row.version + 1))
    })?;
    Ok(VersionedResponse { response: Json(ResourceView::of(&next)), version })
}
