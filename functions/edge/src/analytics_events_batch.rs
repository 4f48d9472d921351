//! `POST /api/v1/analytics/events/batch`: accepts and discards the events that SDKs collect on
//! pages, because Gatelet has no analytics. The operation reads neither the body nor the table,
//! because every page sends a batch of events every ten seconds.

use api::http::{BodyRule, Json, Route};
use api::product::Input;
use api::product::input::IgnoredBody;
use errors::Error;
use serde::Serialize;
use utoipa::ToSchema;

pub const ROUTE: Route = Route::post("edge-analytics-events-batch", "/api/v1/analytics/events/batch")
    .summary("Accepts analytics events and discards them")
    .body(BodyRule::Ignored)
    .writes_nothing()
    .without_secret();

/// The result of a batch.
#[derive(Serialize, ToSchema)]
pub struct DroppedEvents {
    /// Number of stored events. Always 0.
    inserted: u32,
}

pub async fn handle(_: Input<IgnoredBody>) -> Result<Json<DroppedEvents>, Error> {
    Ok(Json(DroppedEvents { inserted: 0 }))
}
