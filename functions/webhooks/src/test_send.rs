//! `POST /api/v1/internal/send-test-webhook`: sends one `endpoint.test` event to an endpoint, and
//! returns whether the endpoint accepted it. The endpoint may be disabled.

use std::time::Duration;

use api::http::TableAction::{BatchGetItem, GetItem, PutItem};
use api::http::{Json, Route};
use api::product::{Access, Admin, Input};
use deserr::Deserr;
use errors::Error;
use flows::webhook::attempt;
use model::limit::Limit;
use model::webhook::delivery::{Attempt, Delivery};
use model::webhook::event::{EventType, Message};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;
use wire::id::WebhookEndpointId;

use crate::endpoints::input::lane;

pub const ROUTE: Route = Route::post("webhooks-test-send", "/api/v1/internal/send-test-webhook")
    .summary("Sends a test event to a webhook endpoint")
    .limit(Limit::WebhookTest)
    .table(&[BatchGetItem, GetItem, PutItem]);

/// The time that the endpoint may take to respond. The function must also record the outcome, and
/// end within ten seconds.
const BUDGET: Duration = Duration::from_secs(7);

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct SendTest {
    /// The id of the endpoint.
    endpoint_id: String,
}

#[derive(Serialize, ToSchema)]
#[schema(as = Tested)]
pub struct TestEventResult {
    /// Whether the endpoint accepted the event.
    success: bool,
    /// The reason why the endpoint did not accept the event. Absent if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<String>,
}

pub async fn handle(access: Access<Admin>, Input { body, .. }: Input<SendTest>) -> Result<Json<TestEventResult>, Error> {
    let (app, project) = (&access.app, &access.project.id);
    let row = match WebhookEndpointId::parse(&body.endpoint_id) {
        Ok(id) => app.store.webhook_endpoint(project, id).await?,
        Err(_) => None,
    };
    let Some(row) = row else { return Ok(Json(failed("the endpoint does not exist".to_owned()))) };
    let (endpoint, now) = (row.endpoint, app.clock.now());
    let data = json!({ "message": "This is a test of the endpoint.", "endpointUrl": endpoint.url });
    let message = Message::new(format!("msg_{}", app.entropy.uuid().simple()), EventType::EndpointTest, now, data);
    let mut delivery = Delivery::new(app.entropy.ordered_uuid(now).into(), message, now);
    let outcome = attempt(app, project, &endpoint, &delivery, BUDGET).await;
    delivery.attempted_once(outcome.clone());
    app.store.put_webhook_delivery(&lane(&access, endpoint.id), &delivery).await?;
    Ok(Json(if outcome.is_success() { TestEventResult { success: true, error_message: None } } else { failed(reason(outcome)) }))
}

fn failed(reason: String) -> TestEventResult {
    TestEventResult { success: false, error_message: Some(reason) }
}

fn reason(attempt: Attempt) -> String {
    match (attempt.response_status, attempt.error) {
        (Some(status), _) => format!("the endpoint answered with status {status}"),
        (None, error) => error.unwrap_or_default(),
    }
}
