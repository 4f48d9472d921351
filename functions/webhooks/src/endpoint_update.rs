//! `PATCH /api/v1/internal/webhook-endpoints/{id}`: changes an endpoint. Enabling an endpoint
//! clears its record of failures, and makes pending deliveries due.

use api::http::TableAction::{BatchGetItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::precondition::{IfMatch, VersionedResponse};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode};
use model::webhook::EndpointView;
use model::webhook::input::EndpointPatch;
use store::optimistic;
use store::webhook::queue::fresh_start;

use crate::endpoints::input::{EndpointPath, check_url, found_with_health, rejected, sealing};

pub const ROUTE: Route = Route::patch("webhooks-endpoint-update", "/api/v1/internal/webhook-endpoints/{id}")
    .summary("Updates a webhook endpoint")
    .table(&[BatchGetItem, UpdateItem])
    .errors(&[ErrorCode::WebhookEndpointNotFound, ErrorCode::WebhookUrlNotAllowed]);

pub async fn handle(
    access: Access<Admin>,
    if_match: IfMatch,
    Input { body, path, .. }: Input<EndpointPatch, Nothing, EndpointPath>,
) -> Result<VersionedResponse<Json<EndpointView>>, Error> {
    let (app, project) = (&access.app, &access.project.id);
    if let Some(url) = &body.url {
        check_url(app, url)?;
    }
    let (next, version, health) = optimistic!(|_| {
        let (row, health) = found_with_health(&access, path.id).await?;
        if_match.check(row.version)?;
        let now = app.clock.now();
        let next = body.clone().apply(row.endpoint.clone(), sealing(&access), now).map_err(|error| rejected(error, &ROUTE))?;
        let start = (body.enabled == Some(true)).then(|| fresh_start(project, path.id, now));
        app.store.replace_webhook_endpoint(project, &row, &next, start.into_iter().collect()).await?;
        Ok::<_, Error>((next, row.version + 1, health))
    })?;
    Ok(VersionedResponse { response: Json(EndpointView::of(&next, &health)), version })
}
