//! `GET /api/v1/internal/webhook-endpoints/{id}`: returns an endpoint.

use api::http::TableAction::BatchGetItem;
use api::http::{Json, Route};
use api::product::input::{Ignored, Nothing};
use api::product::precondition::Versioned;
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
    Input { path, .. }: Input<Ignored, Nothing, EndpointPath>,
) -> Result<Versioned<Json<EndpointView>>, Error> {
    let (row, health) = found_with_health(&access, path.id).await?;
    Ok(Versioned { response: Json(EndpointView::of(&row.endpoint, &health)), version: row.version })
}
