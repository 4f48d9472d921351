//! `GET /api/v1/internal/webhook-endpoints/{id}`: returns an endpoint.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::precondition::VersionedResponse;
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::webhook::EndpointView;

use crate::endpoints::input::{EndpointPath, found_with_health};

pub const ROUTE: Route = Route::get("webhooks-endpoint-read", "/api/v1/internal/webhook-endpoints/{id}")
    .summary("Returns a webhook endpoint")
    .table(&[BatchGetItem])
    .errors(&[ErrorCode::WebhookEndpointNotFound]);

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, EndpointPath>,
) -> Result<VersionedResponse<Json<EndpointView>>, Error> {
    let (row, health) = found_with_health(&access, path.id).await?;
    Ok(VersionedResponse { response: Json(EndpointView::of(&row.endpoint, &health)), version: row.version })
}
