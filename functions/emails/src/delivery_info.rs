//! `GET /api/v1/emails/delivery-info`: returns the delivery figures of the project's emails, and
//! the sending rate that depends on these figures.

use api::http::TableAction::{BatchGetItem, GetItem, Query};
use api::http::{Json, Route};
use api::product::{Access, Input, Server};
use axum::extract::State;
use errors::Error;
use flows::App;
use model::outbox::delivery::{BASE_PER_HOUR, DeliveryCapacity, DeliveryStats};
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("emails-delivery-info", "/api/v1/emails/delivery-info")
    .summary("Returns how many emails were sent, bounced and marked as spam")
    .table(&[BatchGetItem, GetItem, Query]);

#[derive(Serialize, ToSchema)]
pub struct DeliveryInfo {
    stats: DeliveryStats,
    capacity: DeliveryCapacity,
}

pub async fn handle(State(app): State<App>, access: Access<Server>, _: Input) -> Result<Json<DeliveryInfo>, Error> {
    let now = app.clock.now();
    let project = &access.project.id;
    let (deliveries, boost) = tokio::try_join!(app.store.deliveries(project, now), app.store.boost(project, now))?;
    let base = app.settings.mails_per_hour.unwrap_or(BASE_PER_HOUR);
    let stats = DeliveryStats::of(&deliveries, now);
    let capacity = DeliveryCapacity { is_limited: app.settings.mails_per_hour.is_some(), ..DeliveryCapacity::of(&stats, base) };
    Ok(Json(DeliveryInfo { stats, capacity: capacity.boosted(boost) }))
}
