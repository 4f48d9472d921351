//! `GET /api/v1/emails/delivery-info`: how the project's mails fared, and how fast it may send by that.

use axum::extract::State;
use serde::Serialize;
use shared::App;
use shared::http::TableAction::{BatchGetItem, Query};
use shared::http::{Json, Route};
use shared::model::delivery::{DeliveryCapacity, DeliveryStats};
use shared::product_api::{Access, Error, Input, Server};
use utoipa::ToSchema;

pub const ROUTE: Route = Route::get("emails-delivery-info", "/api/v1/emails/delivery-info")
    .summary("Reads how many mails were sent, bounced and marked as spam")
    .table(&[BatchGetItem, Query]);

#[derive(Serialize, ToSchema)]
pub struct DeliveryInfo {
    stats: DeliveryStats,
    capacity: DeliveryCapacity,
}

pub async fn handle(State(app): State<App>, access: Access<Server>, _: Input) -> Result<Json<DeliveryInfo>, Error> {
    let now = app.clock.now();
    let stats = DeliveryStats::of(&app.store.deliveries(&access.project.id, now).await?, now);
    Ok(Json(DeliveryInfo { stats, capacity: DeliveryCapacity::of(&stats) }))
}
