//! One attempt to deliver an event to an endpoint. The request is signed, its duration is limited,
//! and every outcome, even a failure, becomes an [`Attempt`].

use std::time::Duration;

use crypto::webhook::sign;
use jiff::Timestamp;
use model::webhook::delivery::{Attempt, Delivery};
use model::webhook::{Endpoint, header_owner, secret_owner};
use net::outgoing::Fault;
pub use net::webhook::BUDGET;
use net::webhook::{Posted, post};
use secrecy::ExposeSecret as _;
use tokio::time::Instant;
use wire::id::ProjectId;

use crate::app::App;

/// The names of the headers of Standard Webhooks, and those of Svix with the same values, which
/// some receivers still expect.
const FAMILIES: [[&str; 3]; 2] =
    [["webhook-id", "webhook-timestamp", "webhook-signature"], ["svix-id", "svix-timestamp", "svix-signature"]];

/// Names and values of headers.
type Headers = Vec<(String, String)>;

/// The text in a fault's reason if the endpoint took too long; the time limit follows the text.
const LATE: &str = "no answer within";

/// Sends a delivery to its endpoint, which may take `budget` until the status of its answer.
pub async fn attempt(app: &App, project: &ProjectId, endpoint: &Endpoint, delivery: &Delivery, budget: Duration) -> Attempt {
    let (at, began) = (app.clock.now(), Instant::now());
    let outcome = match headers(app, project, endpoint, delivery, at) {
        Ok(headers) => post(&app.settings, &endpoint.url, headers, delivery.body.clone(), budget).await.map_err(|fault| told(&fault)),
        Err(reason) => Err(reason),
    };
    let duration_millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
    match outcome {
        Ok(Posted { status, body }) => Attempt { at, response_status: Some(status), duration_millis, error: None, answer: Some(body) },
        Err(error) => Attempt { at, response_status: None, duration_millis, error: Some(error), answer: None },
    }
}

/// What a project's administrators learn about a failure: neither the addresses that a name
/// resolved to nor the details of a refusal, because they would reveal the deployment's network.
fn told(fault: &Fault) -> String {
    let reason = fault.to_string();
    if matches!(fault, Fault::Private(_)) {
        return "the URL's address is not public".to_owned();
    }
    if let Some((_, late)) = reason.split_once(LATE) {
        return format!("{LATE}{late}");
    }
    let known = [
        ("dns error", "its name does not resolve"),
        ("certificate", "its certificate is not valid"),
        ("connection refused", "it refused the connection"),
        ("connection reset", "it reset the connection"),
        ("connection closed", "it closed the connection"),
    ];
    let lower = reason.to_lowercase();
    let which = known.into_iter().find(|(part, _)| lower.contains(part)).map_or("the connection failed", |(_, text)| text);
    format!("the endpoint cannot be reached: {which}")
}

fn headers(app: &App, project: &ProjectId, endpoint: &Endpoint, delivery: &Delivery, at: Timestamp) -> Result<Headers, String> {
    let mut headers = Headers::new();
    for header in &endpoint.headers {
        let owner = header_owner(project.as_str(), endpoint.id, &header.name);
        let value = app
            .sealer
            .open(&owner, &header.value)
            .map_err(|_| format!("the custom header {} cannot be unsealed with the deployment secret: set it again", header.name))?;
        headers.push((header.name.clone(), value.expose_secret().to_owned()));
    }
    let mut signatures = Vec::new();
    for sealed in endpoint.secrets(at) {
        let secret = app.sealer.open(&secret_owner(project.as_str(), endpoint.id), sealed);
        let secret = secret.map_err(|_| "the signing secret cannot be unsealed with the deployment secret: rotate it")?;
        let signature = sign(&secret, &delivery.message_id, at, &delivery.body);
        signatures.push(signature.map_err(|_| "the signing secret is malformed: rotate it")?);
    }
    let values = [delivery.message_id.clone(), at.as_second().to_string(), signatures.join(" ")];
    for family in FAMILIES {
        headers.extend(family.map(str::to_owned).into_iter().zip(values.clone()));
    }
    Ok(headers)
}
