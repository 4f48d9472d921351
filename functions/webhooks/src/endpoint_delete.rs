//! `DELETE /api/v1/internal/webhook-endpoints/{id}`: deletes an endpoint. Pending deliveries are no
//! longer attempted, and a worker deletes all deliveries of the endpoint.

use api::http::TableAction::{BatchGetItem, DeleteItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode, KnownError};
use flows::literal::{SUCCESS, Success};

use crate::endpoints::input::EndpointPath;

pub const ROUTE: Route = Route::delete("webhooks-endpoint-delete", "/api/v1/internal/webhook-endpoints/{id}")
    .summary("Deletes a webhook endpoint")
    .table(&[BatchGetItem, DeleteItem, UpdateItem])
    .errors(&[ErrorCode::WebhookEndpointNotFound]);

pub async fn handle(access: Access<Admin>, Input { path, .. }: Input<IgnoredBody, Nothing, EndpointPath>) -> Result<Json<Success>, Error> {
    let app = &access.app;
    let existed = app.store.delete_webhook_endpoint(&access.project.id, path.id, app.clock.now()).await?;
    if existed { Ok(Json(SUCCESS)) } else { Err(KnownError::WebhookEndpointNotFound.into()) }
}
