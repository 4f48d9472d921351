//! Whether an endpoint works, according to its last attempts.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::webhook::delivery::{Attempt, DeliveryStatus};

/// How long an endpoint may fail without a success before it is switched off.
pub const FAILURE_TIMEOUT: SignedDuration = SignedDuration::from_hours(5 * 24);
/// Failures that are further apart than this belong to different series.
const APART: SignedDuration = SignedDuration::from_hours(24);
/// The status code of a receiver that no longer exists (RFC 9110 §15.5.11).
const GONE: u16 = 410;

/// Why events are not sent to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DisabledReason {
    /// An administrator switched the endpoint off.
    Manual,
    /// All attempts have failed for five days.
    Failing,
    /// The endpoint responded with status 410 (Gone).
    Gone,
}

/// The state of an endpoint, according to its last attempts.
#[wire::sparse]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// When the current series of failures began. Absent if the last attempt succeeded, if there
    /// was no attempt, or if the endpoint has been switched on since.
    pub failing_since: Option<Timestamp>,
    /// When the last failed attempt of the current series began; absent if there is no such series.
    pub failed_at: Option<Timestamp>,
    /// The last attempt; absent if there has not been an attempt.
    pub last: Option<LastDelivery>,
}

/// The last delivery attempt to an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LastDelivery {
    /// Whether the attempt succeeded.
    pub status: DeliveryStatus,
    /// Milliseconds since the Unix epoch.
    pub at_millis: i64,
    /// The status of the response; `null` if no response arrived.
    pub response_status: Option<u16>,
}

impl Health {
    /// Records an attempt, and returns the reason if the endpoint must be switched off.
    pub fn note(&mut self, attempt: &Attempt) -> Option<DisabledReason> {
        let status = if attempt.is_success() { DeliveryStatus::Succeeded } else { DeliveryStatus::Failed };
        self.last = Some(LastDelivery { status, at_millis: attempt.at.as_millisecond(), response_status: attempt.response_status });
        if attempt.is_success() {
            self.reset();
            return None;
        }
        let continues = self.failed_at.is_some_and(|before| attempt.at.duration_since(before) <= APART);
        let since = self.failing_since.filter(|_| continues).unwrap_or(attempt.at);
        (self.failing_since, self.failed_at) = (Some(since), Some(attempt.at));
        match attempt.response_status {
            Some(GONE) => Some(DisabledReason::Gone),
            _ => (attempt.at.duration_since(since) >= FAILURE_TIMEOUT).then_some(DisabledReason::Failing),
        }
    }

    /// Whether the last attempt succeeded. An endpoint without attempts does not count as working
    /// yet.
    pub fn works(&self) -> bool {
        self.last.is_some_and(|last| last.status == DeliveryStatus::Succeeded)
    }

    /// Forgets the failures.
    pub fn reset(&mut self) {
        (self.failing_since, self.failed_at) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use wire::clock::after;

    use super::*;

    fn attempt(hours: i64, response_status: u16) -> Attempt {
        let at = after(Timestamp::UNIX_EPOCH, SignedDuration::from_hours(hours));
        Attempt { at, response_status: Some(response_status), duration_millis: 1, error: None, answer: None }
    }

    #[test]
    fn five_days_of_failures_switch_an_endpoint_off() {
        let mut health = Health::default();
        for hours in (0..120).step_by(10) {
            assert_eq!(health.note(&attempt(hours, 500)), None, "{hours}");
        }
        assert_eq!(health.note(&attempt(120, 500)), Some(DisabledReason::Failing));
    }

    #[test]
    fn a_success_or_a_day_without_attempts_ends_a_series_of_failures() {
        let mut health = Health::default();
        for hours in (0..115).step_by(5) {
            assert_eq!(health.note(&attempt(hours, 500)), None);
        }
        assert_eq!(health.note(&attempt(116, 204)), None);
        assert_eq!(health.failing_since, None);
        assert_eq!(health.note(&attempt(117, 500)), None);
        assert_eq!(health.note(&attempt(300, 500)), None, "failures more than a day apart are not one series");
    }

    #[test]
    fn an_endpoint_works_once_its_last_attempt_has_succeeded() {
        let mut health = Health::default();
        assert!(!health.works());
        health.note(&attempt(0, 204));
        assert!(health.works());
        health.note(&attempt(1, 500));
        health.reset();
        assert!(!health.works(), "the endpoint was enabled again, but no attempt has succeeded since");
    }

    #[test]
    fn an_endpoint_that_is_gone_is_switched_off_at_once() {
        assert_eq!(Health::default().note(&attempt(0, 410)), Some(DisabledReason::Gone));
    }
}
