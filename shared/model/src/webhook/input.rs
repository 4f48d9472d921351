//! Requests that create and change endpoints.
//!
//! The values of custom headers can be set but are never returned. A request with [`HIDDEN`] in
//! place of a value keeps the stored value, provided the URL does not change. For another URL, the
//! values must be sent again, so that nobody can direct stored values to their own server. A change
//! of the path counts as well, because the endpoints of a service's customers may differ only in
//! their paths.

use std::collections::{BTreeMap, BTreeSet};

use crypto::seal::{Error, Sealer};
use crypto::webhook;
use deserr::Deserr;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use utoipa::ToSchema;
use wire::entropy::Entropy;
use wire::id::{ProjectId, WebhookEndpointId};
use wire::problem::Problems;

use crate::text::line;
use crate::webhook::event::EventType;
use crate::webhook::headers::{HIDDEN, checked};
use crate::webhook::{CustomHeader, DisabledReason, Endpoint, SigningSecret, header_owner, secret_owner};

/// The maximum length of a description, in characters.
const MAX_DESCRIPTION: usize = 256;

/// A new endpoint.
#[wire::optional]
#[derive(Debug, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct NewEndpoint {
    /// An `https` URL. `http` is accepted only for the service's own machine, and only if the
    /// deployment allows private addresses.
    #[schema(example = "https://example.com/webhooks")]
    pub url: String,
    /// One line of at most 256 characters.
    pub description: Option<String>,
    /// The types of events to send; if absent or empty, all types are sent.
    pub event_types: Option<Vec<EventType>>,
    /// Default: `true`.
    pub enabled: Option<bool>,
    /// At most ten headers that are added to each request.
    pub custom_headers: Option<BTreeMap<String, String>>,
}

/// A change to an endpoint; absent fields keep their values.
#[wire::optional]
#[derive(Debug, Clone, Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct EndpointPatch {
    /// An `https` URL. `http` is accepted only for the service's own machine, and only if the
    /// deployment allows private addresses. If the endpoint has headers, changing the URL requires
    /// `custom_headers` with all values in plain text. The values are therefore sent only to the
    /// server that their owner intended.
    pub url: Option<String>,
    /// One line of at most 256 characters.
    pub description: Option<String>,
    /// The types of events to send; if empty, all types are sent.
    pub event_types: Option<Vec<EventType>>,
    /// `true` also resets the record of failures.
    pub enabled: Option<bool>,
    /// All headers that are added to each request. A value of eight asterisks keeps the header's
    /// value, unless the URL changes.
    pub custom_headers: Option<BTreeMap<String, String>>,
}

/// Why an endpoint was not created or changed.
#[derive(Debug)]
pub enum Refusal {
    /// The request is invalid.
    Input(Problems),
    /// It was not possible to seal a value.
    Seal(Error),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Seal(error)
    }
}

/// Seals the signing secrets and the header values of the endpoints of a project.
#[derive(Clone, Copy)]
pub struct SecretSealer<'a> {
    /// Encrypts the secrets and values.
    pub sealer: &'a Sealer,
    /// The source of randomness.
    pub entropy: &'a Entropy,
    /// The project.
    pub project: &'a ProjectId,
}

impl SecretSealer<'_> {
    /// A new signing secret of an endpoint, both sealed and in plain text.
    pub fn new_secret(self, endpoint: WebhookEndpointId) -> Result<(SigningSecret, SecretString), Error> {
        let plain = webhook::new_secret(self.entropy);
        let sealed = self.sealer.seal(self.entropy, &secret_owner(self.project.as_str(), endpoint), &plain)?;
        let text = plain.expose_secret();
        let last_four = text[text.len().saturating_sub(4)..].to_owned();
        Ok((SigningSecret { sealed, last_four }, plain))
    }

    /// The headers with sealed values. A header with the value [`HIDDEN`] keeps its value in
    /// `known`, and is refused if `known` does not contain it.
    fn headers(
        self,
        id: WebhookEndpointId,
        wanted: BTreeMap<String, String>,
        known: &[CustomHeader],
    ) -> Result<Vec<CustomHeader>, Refusal> {
        let mut headers = Vec::new();
        for (name, value) in checked(wanted).map_err(problem)? {
            let kept = known.iter().find(|known| known.name == name && value == HIDDEN);
            let value = match kept {
                Some(kept) => kept.value.clone(),
                None if value == HIDDEN => {
                    return Err(problem(format!("must contain the value of {name}, because no value is stored for this URL")));
                }
                None => self.sealer.seal(self.entropy, &header_owner(self.project.as_str(), id, &name), &value.into())?,
            };
            headers.push(CustomHeader { name, value });
        }
        Ok(headers)
    }
}

fn problem(text: String) -> Refusal {
    Refusal::Input(Problems::one("body.custom_headers", text))
}

fn description(text: String) -> Result<String, Refusal> {
    match line::check(&text, 0..=MAX_DESCRIPTION) {
        Ok(()) => Ok(text),
        Err(error) => Err(Refusal::Input(Problems::one("body.description", error))),
    }
}

/// The types in a fixed order, without duplicates.
fn types(given: Vec<EventType>) -> Vec<EventType> {
    BTreeSet::from_iter(given).into_iter().collect()
}

impl NewEndpoint {
    /// The new endpoint, and its secret in plain text. The caller has already checked the URL.
    pub fn into_endpoint(
        self,
        id: WebhookEndpointId,
        sealing: SecretSealer<'_>,
        now: Timestamp,
    ) -> Result<(Endpoint, SecretString), Refusal> {
        let (secret, plain) = sealing.new_secret(id)?;
        let endpoint = Endpoint {
            id,
            url: self.url,
            description: description(self.description.unwrap_or_default())?,
            event_types: types(self.event_types.unwrap_or_default()),
            disabled: (self.enabled == Some(false)).then_some(DisabledReason::Manual),
            // If this time were set, an endpoint that is created switched off would receive events
            // from before its creation.
            disabled_at: None,
            secret,
            previous: None,
            headers: sealing.headers(id, self.custom_headers.unwrap_or_default(), &[])?,
            created_at: now,
            updated_at: now,
        };
        Ok((endpoint, plain))
    }
}

impl EndpointPatch {
    /// The endpoint with the change applied. The caller has already checked the URL.
    pub fn apply(self, mut endpoint: Endpoint, sealing: SecretSealer<'_>, now: Timestamp) -> Result<Endpoint, Refusal> {
        let has_moved = self.url.as_ref().is_some_and(|url| *url != endpoint.url);
        endpoint.url = self.url.unwrap_or(endpoint.url);
        if let Some(text) = self.description {
            endpoint.description = description(text)?;
        }
        endpoint.event_types = self.event_types.map_or(endpoint.event_types, types);
        match self.enabled {
            Some(true) => endpoint.switch_on(),
            Some(false) => endpoint.switch_off(DisabledReason::Manual, now),
            None => {}
        }
        let known = if has_moved { &[][..] } else { &endpoint.headers };
        match self.custom_headers {
            Some(headers) => endpoint.headers = sealing.headers(endpoint.id, headers, known)?,
            None if known.len() == endpoint.headers.len() => {}
            None => {
                return Err(problem("must contain the values of all headers again, because they were meant for the old URL".to_owned()));
            }
        }
        endpoint.updated_at = now;
        Ok(endpoint)
    }
}
