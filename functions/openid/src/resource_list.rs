//! `GET /api/v1/internal/oauth-resources`: lists the project's resources in the order of their
//! identifiers. A project has at most 100, so the list needs no pages.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::input::IgnoredBody;
use api::product::page::List;
use api::product::{Access, Admin, Input};
use errors::Error;
use model::openid::resource_input::ResourceView;

pub const ROUTE: Route = Route::get("openid-resource-list", "/api/v1/internal/oauth-resources")
    .summary("Lists the resources for which OAuth clients get tokens")
    .table(&[BatchGetItem, Query]);

pub async fn handle(access: Access<Admin>, _: Input<IgnoredBody>) -> Result<Json<List<ResourceView>>, Error> {
    let resources = access.app.store.oauth_resources(&access.project.id).await?;
    Ok(Json(List::whole(resources.iter().map(ResourceView::of).collect())))
}
