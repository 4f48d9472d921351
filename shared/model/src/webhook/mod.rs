//! Webhooks: the endpoints of a project, which receive events about changes.
//!
//! Secrets are stored sealed instead of as digests, because the service needs them to sign events.
//! The values of custom headers are sealed as well, because such values are often credentials of
//! the sender.

pub mod delivery;
pub mod event;
pub mod headers;
pub mod health;
pub mod input;

use crypto::seal::SealedText;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use wire::id::{ProjectId, WebhookEndpointId};

use crate::webhook::event::EventType;
use crate::webhook::headers::HIDDEN;
use crate::webhook::health::{Health, LastDelivery};

pub use crate::webhook::health::DisabledReason;

/// The maximum number of endpoints of a project.
pub const MAX_ENDPOINTS: usize = 20;

/// An endpoint.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The id.
    pub id: WebhookEndpointId,
    /// Where events are sent.
    pub url: String,
    /// The purpose of the endpoint.
    pub description: String,
    /// The types of events that the endpoint receives; empty for all types.
    pub event_types: Vec<EventType>,
    /// Why the endpoint is switched off; `None` if it is switched on.
    pub disabled: Option<DisabledReason>,
    /// When the endpoint was switched off; absent if it is switched on, was created switched off,
    /// or was switched off by an earlier version.
    pub disabled_at: Option<Timestamp>,
    /// The secret that signs the endpoint's events.
    pub secret: SigningSecret,
    /// The secret that was replaced; absent if no secret was replaced, or if the last one was
    /// replaced with immediate effect. Until the replaced secret expires, events are signed with
    /// both secrets, so that the receiver has time to switch.
    pub previous: Option<PreviousSecret>,
    /// The headers that are added to each request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<CustomHeader>,
    /// When the endpoint was created.
    pub created_at: Timestamp,
    /// When the endpoint was last changed.
    pub updated_at: Timestamp,
}

/// A secret that signs events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningSecret {
    /// The secret, sealed for the owner [`secret_owner`].
    pub sealed: SealedText,
    /// The last four characters, which help people recognize the secret.
    pub last_four: String,
}

/// A secret that was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreviousSecret {
    /// The secret, sealed for the owner [`secret_owner`].
    pub sealed: SealedText,
    /// Until when events are also signed with the replaced secret.
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub until: Timestamp,
}

/// A header that is added to each request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomHeader {
    /// The name, in lower case.
    pub name: String,
    /// The value, sealed for the owner [`header_owner`].
    pub value: SealedText,
}

/// The owner under which the secrets of an endpoint are sealed.
pub fn secret_owner(project: &str, endpoint: WebhookEndpointId) -> String {
    format!("{project}/webhook/{endpoint}")
}

/// The owner under which the value of a header is sealed.
pub fn header_owner(project: &str, endpoint: WebhookEndpointId, name: &str) -> String {
    format!("{project}/webhook/{endpoint}/{name}")
}

impl Endpoint {
    /// Whether the endpoint receives events of this type that happened at `at`. An endpoint that
    /// has been switched off still receives earlier events, because changes may be read long after
    /// they were made. The times of events are rounded down to seconds, so the endpoint also
    /// receives the events of the second in which it was switched off. If `disabled_at` is absent,
    /// an endpoint that is switched off does not receive any events.
    pub fn receives(&self, event_type: EventType, at: Timestamp) -> bool {
        let was_on = self.disabled.is_none() || self.disabled_at.is_some_and(|off| at <= off);
        was_on && (self.event_types.is_empty() || self.event_types.contains(&event_type))
    }

    /// Switches the endpoint off. If the endpoint is already off, its reason and time are kept.
    pub fn switch_off(&mut self, reason: DisabledReason, now: Timestamp) {
        if self.disabled.is_none() {
            (self.disabled, self.disabled_at) = (Some(reason), Some(now));
        }
        self.updated_at = now;
    }

    /// Switches the endpoint on.
    pub fn switch_on(&mut self) {
        (self.disabled, self.disabled_at) = (None, None);
    }

    /// The secrets that sign an event, starting with the current one.
    pub fn secrets(&self, now: Timestamp) -> impl Iterator<Item = &SealedText> {
        let previous = self.previous.as_ref().filter(|previous| now < previous.until);
        [&self.secret.sealed].into_iter().chain(previous.map(|previous| &previous.sealed))
    }

    /// Replaces the secret. Until `until`, events are also signed with the old secret, provided
    /// that `until` is after `now`.
    pub fn rotate(&mut self, secret: SigningSecret, until: Timestamp, now: Timestamp) {
        let old = std::mem::replace(&mut self.secret, secret);
        self.previous = (until > now).then_some(PreviousSecret { sealed: old.sealed, until });
        self.updated_at = now;
    }
}

/// An endpoint in a response.
#[derive(Debug, Serialize, ToSchema)]
pub struct EndpointView {
    id: WebhookEndpointId,
    #[schema(example = "https://example.com/webhooks")]
    url: String,
    description: String,
    /// The types of events that are sent; empty for all types.
    event_types: Vec<EventType>,
    /// The names of the headers that are added to each request, each with eight asterisks in place
    /// of its value.
    #[schema(value_type = std::collections::HashMap<String, String>)]
    custom_headers: serde_json::Map<String, serde_json::Value>,
    enabled: bool,
    /// Why events are not sent to the endpoint; `null` if it is switched on.
    disabled_reason: Option<DisabledReason>,
    /// Milliseconds since the Unix epoch.
    created_at_millis: i64,
    /// Milliseconds since the Unix epoch.
    updated_at_millis: i64,
    /// The last four characters of the secret.
    secret_last_four: String,
    /// The last attempt; `null` if there has not been an attempt.
    last_delivery: Option<LastDelivery>,
}

impl EndpointView {
    /// An endpoint in a response, with its last attempt.
    pub fn of(endpoint: &Endpoint, health: &Health) -> Self {
        Self {
            id: endpoint.id,
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            event_types: endpoint.event_types.clone(),
            custom_headers: endpoint.headers.iter().map(|header| (header.name.clone(), HIDDEN.into())).collect(),
            enabled: endpoint.disabled.is_none(),
            disabled_reason: endpoint.disabled,
            created_at_millis: endpoint.created_at.as_millisecond(),
            updated_at_millis: endpoint.updated_at.as_millisecond(),
            secret_last_four: endpoint.secret.last_four.clone(),
            last_delivery: health.last,
        }
    }
}

/// A project and one of its webhook endpoints, which together identify the endpoint's items.
pub type Lane = (ProjectId, WebhookEndpointId);
