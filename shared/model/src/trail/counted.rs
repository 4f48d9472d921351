//! Entries that count events within a minute: failed sign-ins and proofs, and rejected sign-ups.
//! The time of such an entry is the start of the minute.

use jiff::{SignedDuration, Timestamp};

use crate::trail::{Entry, Event};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

/// The start of the minute that contains a time.
pub fn minute(time: Timestamp) -> Timestamp {
    let millis = time.as_millisecond();
    Timestamp::from_millisecond(millis - millis.rem_euclid(i64::try_from(MINUTE.as_millis()).unwrap_or(1))).unwrap_or(time)
}

impl Entry {
    /// Whether the entry belongs to a project created at this time, and not to a deleted project
    /// with the same id. The minute of a counted entry may have begun before the project.
    pub fn is_since(&self, creation: Timestamp) -> bool {
        let is_counted = |event: &Event| matches!(event, Event::SignInFailed | Event::ProofFailed | Event::SignUpRejected);
        self.at >= if self.events.iter().any(is_counted) { minute(creation) } else { creation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_begins_at_its_zeroth_second() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        assert_eq!(minute(at("2026-03-01T10:20:59.999Z")), at("2026-03-01T10:20:00Z"));
        assert_eq!(minute(at("2026-03-01T10:21:00Z")), at("2026-03-01T10:21:00Z"));
    }
}
