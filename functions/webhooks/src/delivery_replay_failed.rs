//! `POST /api/v1/internal/webhook-endpoints/{id}/replay-failed`: replays the events since a given
//! time whose delivery failed after all attempts and that have not been replayed yet. A request
//! replays about a thousand events, or fewer if the bodies are large.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem};
use api::http::{Json, Route};
use api::product::input::Nothing;
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use jiff::Timestamp;
use model::limit::Limit;
use model::outbox::patch::AtMillis;
use serde::Serialize;
use store::webhook::replay::Replay;
use utoipa::ToSchema;

use crate::endpoints::input::{EndpointPath, found, lane};

pub const ROUTE: Route = Route::post("webhooks-delivery-replay-failed", "/api/v1/internal/webhook-endpoints/{id}/replay-failed")
    .summary("Redelivers the events whose delivery failed since a given time")
    .limit(Limit::WebhookReplay)
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, PutItem, Query, UpdateItem])
    .errors(&[ErrorCode::WebhookEndpointNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
#[schema(as = ReplayFailed)]
pub struct ReplayRequest {
    /// Selects the events since this time, in milliseconds since the epoch. The time is rounded
    /// down to a whole second, like the times of events.
    #[schema(value_type = i64)]
    since_millis: AtMillis,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Replayed)]
pub struct ReplayResult {
    /// The number of replayed events.
    count: usize,
    /// The `since_millis` that must be sent for the remaining events. `null` if no events remain.
    next_since_millis: Option<i64>,
}

pub async fn handle(
    access: Access<Admin>,
    Input { body, path, .. }: Input<ReplayRequest, Nothing, EndpointPath>,
) -> Result<Json<ReplayResult>, Error> {
    let (app, lane, now) = (&access.app, lane(&access, path.id), access.app.clock.now());
    let since = Timestamp::from_second(body.since_millis.0.as_second()).unwrap_or_default();
    let (failed, next) = app.store.failed_webhooks(&lane, since).await?;
    if failed.is_empty() {
        found(&access, path.id).await?;
    }
    let replays = failed.iter().map(|old| Replay::new(lane.clone(), old, app.entropy.ordered_uuid(now).into(), now));
    match app.store.replay_webhooks(replays.collect(), now).await {
        Ok(count) => Ok(Json(ReplayResult { count, next_since_millis: next.map(Timestamp::as_millisecond) })),
        Err(store::Error::Conflict(_)) => Err(KnownError::WebhookEndpointNotFound.into()),
        Err(error) => Err(error.into()),
    }
}
