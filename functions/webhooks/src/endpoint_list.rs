//! `GET /api/v1/internal/webhook-endpoints`: lists the project's endpoints, oldest first.

use api::http::TableAction::{BatchGetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use model::webhook::{EndpointView, MAX_ENDPOINTS};
use utoipa::ToSchema;
use wire::id::WebhookEndpointId;

pub const ROUTE: Route = Route::get("webhooks-endpoint-list", "/api/v1/internal/webhook-endpoints")
    .summary("Lists the project's webhook endpoints")
    .table(&[BatchGetItem, Query])
    .errors(&[ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EndpointsQuery {
    /// 1 to 100. The default is 20, which is also the maximum number of endpoints of a project.
    limit: Option<Limit<MAX_ENDPOINTS, 100>>,
    /// The `next_cursor` of the previous page.
    cursor: Option<String>,
}

pub async fn handle(
    access: Access<Admin>,
    Input { query, .. }: Input<IgnoredBody, EndpointsQuery>,
) -> Result<Json<Page<EndpointView>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let (store, project, cursors) = (&access.app.store, &access.project.id, Cursors::of(&access, "webhook-endpoints"));
    let after: Option<(i64, WebhookEndpointId)> = cursors.position(query.cursor.as_deref())?;
    let mut endpoints = store.webhook_endpoints(project).await?;
    endpoints.retain(|endpoint| after.is_none_or(|after| (endpoint.created_at.as_millisecond(), endpoint.id) > after));
    let has_more = endpoints.len() > limit;
    endpoints.truncate(limit);
    let last = endpoints.last().filter(|_| has_more).map(|last| (last.created_at.as_millisecond(), last.id));
    let ids: Vec<WebhookEndpointId> = endpoints.iter().map(|endpoint| endpoint.id).collect();
    let health = store.webhook_health(project, &ids).await?;
    let items = endpoints.iter().zip(&health).map(|(endpoint, health)| EndpointView::of(endpoint, health));
    Ok(Json(Page::new(items.collect(), cursors.next(last.as_ref())?)))
}
