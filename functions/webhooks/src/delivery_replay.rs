//! `POST /api/v1/internal/webhook-endpoints/{id}/deliveries/{delivery_id}/replay`: delivers an
//! event again. The message keeps its id, so that the receiver recognizes the event.

use api::http::TableAction::{BatchGetItem, ConditionCheckItem, GetItem, PutItem, UpdateItem};
use api::http::{Json, Route};
use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use model::webhook::delivery::DeliveryView;
use store::webhook::replay::Replay;
use utoipa::ToSchema;
use wire::id::{WebhookDeliveryId, WebhookEndpointId};

use crate::endpoints::input::{found, lane};

pub const ROUTE: Route = Route::post("webhooks-delivery-replay", "/api/v1/internal/webhook-endpoints/{id}/deliveries/{delivery_id}/replay")
    .summary("Redelivers an event to a webhook endpoint")
    .table(&[BatchGetItem, ConditionCheckItem, GetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::WebhookEndpointNotFound, ErrorCode::WebhookDeliveryNotFound]);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct DeliveryPath {
    /// The id of the endpoint.
    #[schema(value_type = String, format = Uuid)]
    id: WebhookEndpointId,
    /// The id of the delivery.
    delivery_id: WebhookDeliveryId,
}

pub async fn handle(
    access: Access<Admin>,
    Input { path, .. }: Input<IgnoredBody, Nothing, DeliveryPath>,
) -> Result<Json<DeliveryView>, Error> {
    let (app, lane, now) = (&access.app, lane(&access, path.id), access.app.clock.now());
    let Some(old) = app.store.webhook_delivery(&lane, path.delivery_id).await? else {
        found(&access, path.id).await?;
        return Err(KnownError::WebhookDeliveryNotFound.into());
    };
    let replay = Replay::new(lane, &old, app.entropy.ordered_uuid(now).into(), now);
    match app.store.replay_webhook(&replay, now).await {
        Ok(()) => Ok(Json(replay.delivery().into())),
        Err(store::Error::Conflict(_)) => {
            found(&access, path.id).await?;
            Err(KnownError::WebhookDeliveryNotFound.into())
        }
        Err(error) => Err(error.into()),
    }
}
