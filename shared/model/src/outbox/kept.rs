//! The part of an outbox entry that describes the separate item of the email's bodies.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::{Millis, after};

/// How long the table may still contain an email's bodies after they count as erased. DynamoDB's
/// delays and failed changes to the expiry are not included.
pub const SLACK: SignedDuration = SignedDuration::from_hours(1);

/// The expiry and size of bodies that are stored in a separate item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptBodies {
    /// When the item with the bodies expires, in milliseconds since the Unix epoch; absent while an
    /// email without codes has not been sent, skipped or given up. While the field is absent,
    /// earlier versions cannot read the entry, so they do not send the email without its bodies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Millis>,
    /// The approximate size of the bodies before compression, in bytes.
    pub bytes: usize,
}

impl KeptBodies {
    /// Whether the bodies have not expired.
    pub(crate) fn lasts(self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now.as_millisecond() < until)
    }

    /// Whether the bodies of an email that was sent, skipped or given up expire in time. The bodies
    /// must not expire before `end`, when they count as erased, or more than [`SLACK`] after `end`.
    pub(crate) fn suits(self, end: Timestamp) -> bool {
        self.until.is_some_and(|until| (end.as_millisecond()..=after(end, SLACK).as_millisecond()).contains(&until))
    }
}
