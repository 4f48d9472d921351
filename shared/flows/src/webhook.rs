//! One attempt to deliver an event to an endpoint. The request is signed and has a time limit, and
//! every outcome, even a failure, becomes an [`Attempt`].

use std::time::Duration;

use crypto::webhook::sign;
use jiff::Timestamp;
use model::webhook::delivery::{Attempt, Delivery};
use model::webhook::{Endpoint, header_owner, secret_owner};
use net::outgoing::AnswerError;
pub use net::webhook::BUDGET;
use net::webhook::{EndpointAnswer, NOT_ON_THE_INTERNET, post};
use secrecy::ExposeSecret as _;
use tokio::time::Instant;
use wire::id::ProjectId;

use crate::app::App;

/// The names of the headers of Standard Webhooks, and the names that Svix uses for the same values
/// and some receivers still expect.
const FAMILIES: [[&str; 3]; 2] =
    [["webhook-id", "webhook-timestamp", "webhook-signature"], ["svix-id", "svix-timestamp", "svix-signature"]];

type Headers = Vec<(String, String)>;

/// The beginning of a fault's reason if the endpoint took too long; the time limit follows.
const LATE: &str = "no answer within";

/// The texts in a fault's reason if the host name did not resolve, and if it resolved only to
/// private addresses.
const UNRESOLVED: [&str; 2] = ["dns error", "no public address"];

/// Sends a delivery to its endpoint, and waits up to `budget` for the status of the response.
pub async fn attempt(app: &App, project: &ProjectId, endpoint: &Endpoint, delivery: &Delivery, budget: Duration) -> Attempt {
    let (at, began) = (app.clock.now(), Instant::now());
    let outcome = match headers(app, project, endpoint, delivery, at) {
        Ok(headers) => {
            post((&app.settings, project), &endpoint.url, headers, delivery.body.clone(), budget).await.map_err(|fault| told(&fault))
        }
        Err(reason) => Err(reason),
    };
    let duration_millis = u32::try_from(began.elapsed().as_millis()).unwrap_or(u32::MAX);
    match outcome {
        Ok(EndpointAnswer { status, body }) => {
            Attempt { at, response_status: Some(status), duration_millis, error: None, answer: Some(body) }
        }
        Err(error) => Attempt { at, response_status: None, duration_millis, error: Some(error), answer: None },
    }
}

/// The description of a failure for a project's administrators. The description does not say which
/// addresses a name resolves to, or whether the name resolves at all, because either would reveal
/// names and addresses of the deployment's network.
fn told(fault: &AnswerError) -> String {
    let reason = fault.to_string();
    let lower = reason.to_lowercase();
    if matches!(fault, AnswerError::Private(_)) || UNRESOLVED.iter().any(|part| lower.contains(part)) {
        return format!("the endpoint cannot be reached: {NOT_ON_THE_INTERNET}");
    }
    if let Some((_, late)) = reason.split_once(LATE) {
        return format!("{LATE}{late}");
    }
    let known = [
        ("certificate", "its certificate is not valid"),
        ("connection refused", "it refused the connection"),
        ("connection reset", "it reset the connection"),
        ("connection closed", "it closed the connection"),
    ];
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_without_an_address_is_refused_like_one_with_a_private_address() {
        let private = told(&AnswerError::Private("db.internal".to_owned()));
        let unresolved = "client error (Connect): dns error: failed to lookup address information: Name or service not known";
        assert_eq!(told(&AnswerError::Unavailable(unresolved.to_owned())), private);
        let by_proxy = "client error (Connect): db.internal has no public address; GATELET_ALLOW_PRIVATE_ISSUERS=1 allows private ones";
        assert_eq!(told(&AnswerError::Unavailable(by_proxy.to_owned())), private);
        assert_eq!(private, "the endpoint cannot be reached: its host has no public address");
        let refused = "client error (Connect): tcp connect error: Connection refused (os error 111)";
        assert_ne!(told(&AnswerError::Unavailable(refused.to_owned())), private);
    }
}
