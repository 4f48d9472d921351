//! `GET /api/v1/internal/webhook-endpoints/{id}/deliveries`: lists the deliveries to an endpoint in
//! the last 30 days, newest first. Each delivery contains all its attempts.

use api::http::TableAction::{BatchGetItem, GetItem, Query};
use api::http::{Json, Route};
use api::product::cursor::Cursors;
use api::product::input::IgnoredBody;
use api::product::page::{self, Limit, Page};
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode};
use model::webhook::delivery::{DeliveryStatus, DeliveryView};
use model::webhook::event::EventType;
use store::webhook::delivery::DeliveryListing;
use utoipa::ToSchema;

use crate::endpoints::input::{EndpointPath, found, lane};

pub const ROUTE: Route = Route::get("webhooks-delivery-list", "/api/v1/internal/webhook-endpoints/{id}/deliveries")
    .summary("Lists the deliveries to a webhook endpoint, newest first")
    .table(&[BatchGetItem, GetItem, Query])
    .errors(&[ErrorCode::WebhookEndpointNotFound, ErrorCode::InvalidCursor]);

#[wire::optional]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DeliveriesQuery {
    /// Selects the deliveries with this status.
    status: Option<DeliveryStatus>,
    /// Selects the events of this type.
    #[schema(value_type = Option<String>, example = "user.created")]
    event_type: Option<EventType>,
    /// 1 to 100. Default: 50.
    limit: Option<Limit<50, 100>>,
    /// The `next_cursor` of the previous page. The cursor must be sent with the same filters.
    cursor: Option<String>,
}

pub async fn handle(
    access: Access<Admin>,
    Input { query, path, .. }: Input<IgnoredBody, DeliveriesQuery, EndpointPath>,
) -> Result<Json<Page<DeliveryView>>, Error> {
    let limit = page::limit(query.limit, &ROUTE)?;
    let DeliveriesQuery { status, event_type, cursor, .. } = query;
    let cursors = Cursors::of(&access, format!("webhook-deliveries/{}/{status:?}/{event_type:?}", path.id));
    let after: Option<String> = cursors.position(cursor.as_deref())?;
    found(&access, path.id).await?;
    let listing = DeliveryListing { status, event_type, after: after.as_deref(), limit };
    let (deliveries, next) = access.app.store.webhook_deliveries(&lane(&access, path.id), listing).await?;
    Ok(Json(Page::new(deliveries.into_iter().map(DeliveryView::from).collect(), cursors.next(next.as_ref())?)))
}
