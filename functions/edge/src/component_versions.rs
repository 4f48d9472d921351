//! `GET /api/v1/internal/component-versions`: lists the versions of prebuilt page components. The
//! list is empty, because Gatelet has no page components. Development tools of SDKs fetch the list
//! on local pages.

use std::collections::BTreeMap;

use api::http::{Json, Route};
use api::product::Input;
use errors::Error;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("edge-component-versions", "/api/v1/internal/component-versions")
    .summary("Returns an empty list of page component versions")
    .without_secret();

#[derive(Serialize, ToSchema)]
pub struct ComponentVersions {
    /// Always empty.
    versions: BTreeMap<String, String>,
}

pub async fn handle(_: Input) -> Result<Json<ComponentVersions>, Error> {
    Ok(Json(ComponentVersions { versions: BTreeMap::new() }))
}
