//! Deliveries: each delivery sends one event to one endpoint.

use jiff::{SignedDuration, Timestamp};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use wire::clock::after;
use wire::id::{WebhookDeliveryId, WebhookEndpointId};

use crate::webhook::event::{EventType, Message};

/// How long a delivery is kept, regardless of its outcome.
pub const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The waits after each failed attempt. The attempt after the last wait is the final one.
const WAITS: [SignedDuration; 7] = [
    SignedDuration::from_secs(5),
    SignedDuration::from_mins(5),
    SignedDuration::from_mins(30),
    SignedDuration::from_hours(2),
    SignedDuration::from_hours(5),
    SignedDuration::from_hours(10),
    SignedDuration::from_hours(10),
];
/// The maximum random extension of a wait, as a fraction of the wait. The random extension spreads
/// the retries after an outage.
const JITTER: f64 = 0.2;

/// The status of a delivery or of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, deserr::Deserr, ToSchema)]
#[serde(rename_all = "lowercase")]
#[deserr(rename_all = lowercase)]
pub enum DeliveryStatus {
    /// The delivery waits for its next attempt.
    Pending,
    /// The endpoint accepted the event.
    Succeeded,
    /// Every attempt failed.
    Failed,
}

/// The delivery of an event to an endpoint.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    /// The id.
    pub id: WebhookDeliveryId,
    /// The id of the message, which is the same in all replays.
    pub message_id: String,
    /// The type of the event.
    pub event_type: EventType,
    /// The body of the message.
    pub body: String,
    /// When the event happened; in a replay, when the replay was requested.
    pub created_at: Timestamp,
    /// The status.
    pub status: DeliveryStatus,
    /// The attempts so far, oldest first.
    #[serde(default)]
    pub attempts: Vec<Attempt>,
    /// When the next attempt is due; absent unless the delivery is pending.
    pub next_attempt_at: Option<Timestamp>,
    /// When another delivery of the same message was last requested; absent if there was no such
    /// request, or if an earlier version handled it.
    pub replayed_at: Option<Timestamp>,
}

/// An attempt to deliver an event.
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When the attempt began.
    pub at: Timestamp,
    /// The HTTP status of the response; absent if no response arrived.
    pub response_status: Option<u16>,
    /// How long the attempt took, in milliseconds.
    pub duration_millis: u32,
    /// Why no response arrived; absent if a response arrived.
    pub error: Option<String>,
    /// The beginning of the response's body; absent if no response arrived.
    pub answer: Option<String>,
}

impl Attempt {
    /// Whether the endpoint accepted the event with a status from 200 to 299.
    pub fn is_success(&self) -> bool {
        self.response_status.is_some_and(|status| (200..300).contains(&status))
    }
}

impl Delivery {
    /// A new delivery of a message that is due now. The id is derived from the message and the
    /// endpoint, so a change that is read twice creates only one delivery.
    pub fn of(message: Message, endpoint: WebhookEndpointId, now: Timestamp) -> Self {
        let digest = digest(&SHA256, format!("{endpoint}/{}", message.id).as_bytes());
        let mut bytes = [0; 10];
        bytes.iter_mut().zip(digest.as_ref()).for_each(|(byte, of)| *byte = *of);
        let millis = u64::try_from(message.at.as_millisecond()).unwrap_or_default();
        let id = uuid::Builder::from_unix_timestamp_millis(millis, &bytes).into_uuid();
        Self::new(id.into(), message, now)
    }

    /// A new delivery with this id that is due now.
    pub fn new(id: WebhookDeliveryId, message: Message, now: Timestamp) -> Self {
        let Message { id: message_id, event_type, at, body } = message;
        let (status, attempts) = (DeliveryStatus::Pending, Vec::new());
        Self { id, message_id, event_type, body, created_at: at, status, attempts, next_attempt_at: Some(now), replayed_at: None }
    }

    /// A new delivery of the same message.
    pub fn again(&self, id: WebhookDeliveryId, now: Timestamp) -> Self {
        let (message_id, event_type, body) = (self.message_id.clone(), self.event_type, self.body.clone());
        Self::new(id, Message { id: message_id, event_type, at: now, body }, now)
    }

    /// Adds an attempt, and updates the status and the time of the next attempt. `fraction`, a
    /// random number in [0, 1), determines the jitter.
    pub fn attempted(&mut self, attempt: Attempt, fraction: f64) {
        let wait = WAITS.get(self.attempts.len()).map(|wait| *wait + wait.mul_f64(JITTER * fraction));
        let ended_at = after(attempt.at, SignedDuration::from_millis(i64::from(attempt.duration_millis)));
        (self.status, self.next_attempt_at) = match (attempt.is_success(), wait) {
            (true, _) => (DeliveryStatus::Succeeded, None),
            (false, Some(wait)) => (DeliveryStatus::Pending, Some(after(ended_at, wait))),
            (false, None) => (DeliveryStatus::Failed, None),
        };
        self.attempts.push(attempt);
    }

    /// Adds the only attempt of a test.
    pub fn attempted_once(&mut self, attempt: Attempt) {
        self.status = if attempt.is_success() { DeliveryStatus::Succeeded } else { DeliveryStatus::Failed };
        self.next_attempt_at = None;
        self.attempts.push(attempt);
    }

    /// When the delivery is deleted.
    pub fn expires_at(&self) -> Timestamp {
        after(self.created_at, KEPT)
    }
}

/// A delivery in a response.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryView {
    id: WebhookDeliveryId,
    /// The id of the message, which is the same in all attempts and replays.
    #[schema(example = "msg_6b0f6c3d1c2e4f5a9b8c7d6e5f403122")]
    message_id: String,
    event_type: EventType,
    status: DeliveryStatus,
    /// The attempts so far, oldest first.
    attempts: Vec<AttemptView>,
    /// Milliseconds since the Unix epoch.
    created_at_millis: i64,
    /// Milliseconds since the Unix epoch; `null` unless the status is `pending`.
    next_attempt_at_millis: Option<i64>,
    /// When this delivery was last replayed, in milliseconds since the Unix epoch; `null` if it was
    /// never replayed.
    replayed_at_millis: Option<i64>,
    /// The body of the message: `type`, `timestamp` and `data`. If the body contains `"truncated":
    /// true`, metadata in `data` is `null` because it was too large.
    #[schema(value_type = Object)]
    payload: Value,
}

/// An attempt in a response.
#[derive(Debug, Serialize, ToSchema)]
pub struct AttemptView {
    /// Milliseconds since the Unix epoch.
    at_millis: i64,
    /// `null` if no response arrived.
    response_status: Option<u16>,
    /// The first KB of the response's body; `null` if no response arrived.
    response_body: Option<String>,
    /// How long the attempt took, in milliseconds.
    duration_millis: u32,
    /// Why no response arrived; `null` if a response arrived.
    error: Option<String>,
}

impl From<Delivery> for DeliveryView {
    fn from(delivery: Delivery) -> Self {
        let attempt = |attempt: Attempt| AttemptView {
            at_millis: attempt.at.as_millisecond(),
            response_status: attempt.response_status,
            response_body: attempt.answer,
            duration_millis: attempt.duration_millis,
            error: attempt.error,
        };
        Self {
            id: delivery.id,
            message_id: delivery.message_id,
            event_type: delivery.event_type,
            status: delivery.status,
            attempts: delivery.attempts.into_iter().map(attempt).collect(),
            created_at_millis: delivery.created_at.as_millisecond(),
            next_attempt_at_millis: delivery.next_attempt_at.map(Timestamp::as_millisecond),
            replayed_at_millis: delivery.replayed_at.map(Timestamp::as_millisecond),
            payload: serde_json::from_str(&delivery.body).unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(at: Timestamp) -> Attempt {
        Attempt { at, response_status: Some(500), duration_millis: 20, error: None, answer: None }
    }

    #[test]
    fn a_failing_delivery_is_tried_eight_times_within_34_hours() {
        let start = Timestamp::UNIX_EPOCH;
        for fraction in [0.0, 0.999] {
            let message = Message { id: "msg_1".to_owned(), event_type: EventType::EndpointTest, at: start, body: "{}".to_owned() };
            let mut delivery = Delivery::of(message, WebhookEndpointId::from(uuid::Uuid::nil()), start);
            let mut last = start;
            while let Some(next) = delivery.next_attempt_at {
                last = next;
                delivery.attempted(failed(next), fraction);
            }
            assert_eq!((delivery.attempts.len(), delivery.status), (8, DeliveryStatus::Failed));
            let hours = last.duration_since(start).as_secs_f64() / 3600.0;
            assert!((27.5..33.2).contains(&hours), "{hours}");
        }
    }

    #[test]
    fn a_message_makes_the_same_delivery_whenever_it_is_read() {
        let message =
            || Message { id: "msg_1".to_owned(), event_type: EventType::EndpointTest, at: Timestamp::UNIX_EPOCH, body: "{}".to_owned() };
        let [one, other] = [1, 2].map(|id| WebhookEndpointId::from(uuid::Uuid::from_u128(id)));
        let of = |endpoint| Delivery::of(message(), endpoint, Timestamp::UNIX_EPOCH);
        assert_eq!(of(one), of(one));
        assert_ne!(of(one).id, of(other).id);
    }
}
