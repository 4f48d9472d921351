//! Checks the inputs of the operations on endpoints, and reads the items that they need.

use api::http::Route;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::{App, Context};
use model::webhook::Lane;
use model::webhook::health::Health;
use model::webhook::input::{Refusal, SecretSealer};
use net::webhook::check;
use store::webhook::EndpointRow;
use utoipa::ToSchema;
use wire::id::WebhookEndpointId;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EndpointPath {
    pub(crate) id: WebhookEndpointId,
}

/// Rejects a URL to which events must not be sent.
pub(crate) fn check_url(app: &App, url: &str) -> Result<(), KnownError> {
    check(&app.settings, url).map_err(|reason| KnownError::WebhookUrlNotAllowed { reason })
}

/// The sealer for the secrets of the project's endpoints.
pub(crate) fn sealing(context: &Context) -> SecretSealer<'_> {
    SecretSealer { sealer: &context.app.sealer, entropy: &context.app.entropy, project: &context.project.id }
}

pub(crate) fn rejected(rejected: Refusal, route: &Route) -> Error {
    match rejected {
        Refusal::Input(problems) => route.schema_error(&problems).into(),
        Refusal::Seal(error) => error.into(),
    }
}

pub(crate) async fn found(context: &Context, id: WebhookEndpointId) -> Result<EndpointRow, Error> {
    let row = context.app.store.webhook_endpoint(&context.project.id, id).await?;
    Ok(row.ok_or(KnownError::WebhookEndpointNotFound)?)
}

/// The project and the endpoint, which together identify the endpoint's deliveries.
pub(crate) fn lane(context: &Context, id: WebhookEndpointId) -> Lane {
    (context.project.id.clone(), id)
}

pub(crate) async fn found_with_health(context: &Context, id: WebhookEndpointId) -> Result<(EndpointRow, Health), Error> {
    let found = context.app.store.webhook_endpoint_and_health(&context.project.id, id).await?;
    Ok(found.ok_or(KnownError::WebhookEndpointNotFound)?)
}
