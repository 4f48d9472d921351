//! `POST /api/v1/internal/webhook-endpoints`: creates an endpoint. Only this operation returns the
//! endpoint's secret.

use api::http::TableAction::{BatchGetItem, PutItem, UpdateItem};
use api::http::{CreatedJson, Route};
use api::product::{Access, Admin, Input};
use errors::{Error, ErrorCode, KnownError};
use model::webhook::health::Health;
use model::webhook::input::NewEndpoint;
use model::webhook::{EndpointView, MAX_ENDPOINTS};
use secrecy::ExposeSecret as _;
use serde::Serialize;
use utoipa::ToSchema;

use crate::endpoints::input::{check_url, rejected, sealing};

pub const ROUTE: Route = Route::post("webhooks-endpoint-create", "/api/v1/internal/webhook-endpoints")
    .summary("Creates a webhook endpoint and returns its secret once")
    .table(&[BatchGetItem, PutItem, UpdateItem])
    .errors(&[ErrorCode::WebhookUrlNotAllowed, ErrorCode::TooManyWebhookEndpoints]);

#[derive(Serialize, ToSchema)]
pub struct CreatedEndpoint {
    #[serde(flatten)]
    endpoint: EndpointView,
    /// Signs the events. The secret is not shown again.
    #[schema(example = "whsec_…")]
    secret: String,
}

pub async fn handle(access: Access<Admin>, Input { body, .. }: Input<NewEndpoint>) -> Result<CreatedJson<CreatedEndpoint>, Error> {
    let app = &access.app;
    check_url(app, &body.url)?;
    let id = app.entropy.uuid().into();
    let made = body.into_endpoint(id, sealing(&access), app.clock.now());
    let (endpoint, secret) = made.map_err(|error| rejected(error, &ROUTE))?;
    if !app.store.create_webhook_endpoint(&access.project.id, &endpoint).await? {
        return Err(KnownError::TooManyWebhookEndpoints { limit: MAX_ENDPOINTS }.into());
    }
    let endpoint = EndpointView::of(&endpoint, &Health::default());
    Ok(CreatedJson(CreatedEndpoint { endpoint, secret: secret.expose_secret().to_owned() }))
}
