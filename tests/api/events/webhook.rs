//! Creates the webhook endpoint and the delivery that the events use.

use model::webhook::delivery::{Attempt, Delivery};
use model::webhook::event::{EventType, Message};
use model::webhook::input::{NewEndpoint, SecretSealer};
use serde_json::json;
use support::TestApp;
use wire::id::{ProjectId, WebhookDeliveryId, WebhookEndpointId};

/// A webhook endpoint and a failed delivery to it.
const WEBHOOK_ENDPOINT: &str = "9d2e6f14-7c3b-4a58-b1e0-6f5a4c3d2b19";
const WEBHOOK_DELIVERY: &str = "019b79a8-5a00-7c3d-8e2f-1a2b3c4d5e6f";

pub(super) async fn write(app: &TestApp, project: &ProjectId) {
    let id = WebhookEndpointId::parse(WEBHOOK_ENDPOINT).unwrap();
    let input = json!({ "url": "https://webhooks.invalid/", "event_types": ["endpoint.test"] });
    let new: NewEndpoint = deserr::deserialize::<_, _, wire::problem::Problems>(input).unwrap();
    let sealing = SecretSealer { sealer: &app.app.sealer, entropy: &app.app.entropy, project };
    let (endpoint, _) = new.into_endpoint(id, sealing, app.now()).unwrap();
    assert!(app.app.store.create_webhook_endpoint(project, &endpoint).await.unwrap());
    let message = Message::new("msg_0123456789abcdef".to_owned(), EventType::EndpointTest, app.now(), json!({ "message": "Hello" }));
    let mut delivery = Delivery::new(WebhookDeliveryId::parse(WEBHOOK_DELIVERY).unwrap(), message, app.now());
    delivery.attempted_once(Attempt { at: app.now(), response_status: Some(500), duration_millis: 1, error: None, answer: None });
    app.app.store.put_webhook_delivery(&(project.clone(), id), &delivery).await.unwrap();
}
