//! `POST /api/v1/internal/oauth-resources`: creates a resource, for which OAuth clients can then
//! request access tokens.

use api::http::TableAction::{BatchGetItem, GetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Route};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode, KnownError};
use model::openid::resource::MAX_RESOURCES;
use model::openid::resource_input::{ResourceInput, ResourceView};
use store::openid::resource::Creation;

use crate::clients::check_algorithm;

pub const ROUTE: Route = Route::post("openid-resource-create", "/api/v1/internal/oauth-resources")
    .summary("Creates a resource for which OAuth clients get tokens")
    .table(&[BatchGetItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::OauthResourceAlreadyExists, ErrorCode::TooManyOauthResources, ErrorCode::Forbidden]);

pub async fn handle(access: Access<Admin>, Input { body, .. }: Input<ResourceInput>) -> Result<CreatedJson<ResourceView>, Error> {
    let (app, now) = (&access.app, access.app.clock.now());
    // The administrators of projects sign in only to the console.
    if access.project.id.is_internal() {
        return Err(KnownError::Forbidden.into());
    }
    check_algorithm(&access, body.asks_for_rsa(), &ROUTE).await?;
    let resource = body.into_resource(now).map_err(|problems| ROUTE.schema_error(&problems))?;
    match app.store.create_oauth_resource(&access.project.id, &resource).await? {
        Creation::Created => Ok(CreatedJson(ResourceView::of(&resource))),
        Creation::Exists => Err(KnownError::OauthResourceAlreadyExists { identifier: resource.identifier.to_string() }.into()),
        Creation::TooMany => Err(KnownError::TooManyOauthResources { limit: MAX_RESOURCES }.into()),
    }
}
