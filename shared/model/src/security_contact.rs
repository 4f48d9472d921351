//! The contacts to which vulnerabilities of a deployment can be reported, for its `security.txt`
//! (RFC 9116).

use std::fmt;

use jiff::{SignedDuration, Timestamp};

/// The contacts of a deployment, and the time until which they are valid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityContact {
    /// URIs with the schemes `mailto`, `https` or `tel`, starting with the preferred one.
    pub contacts: Vec<String>,
    /// The time after which the contacts can no longer be relied on (RFC 9116 §2.5.5).
    pub expires: Timestamp,
}

/// Why a value is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContactError {
    /// There is no contact, or a contact is too long or not a URI that the format permits.
    #[error(
        "{0:?} is not a contact: expected URIs of at most 500 bytes, separated by commas, such as \
         mailto:security@example.com, https://example.com/report or tel:+1-201-555-0123"
    )]
    Contact(String),
    /// The time is not an RFC 3339 date-time.
    #[error("{0:?} is not a time: expected an RFC 3339 date and time less than a year ahead, such as 2027-01-31T00:00:00Z")]
    Expiry(String),
}

/// Why a valid contact needs attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Staleness {
    /// The time has passed, so people who find a vulnerability should not rely on the contact.
    Expired,
    /// The time is more than a year ahead, which RFC 9116 §2.5.5 advises against.
    Distant,
}

/// Formats the end of a sentence that begins with the name of the setting.
impl fmt::Display for Staleness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => "has passed, so security.txt is no longer valid: check the contacts and set a new time",
            Self::Distant => "is more than a year ahead: set an earlier time, because RFC 9116 recommends less than a year",
        })
    }
}

/// How far ahead the time may be: the length of a leap year.
const MAX_AHEAD: SignedDuration = SignedDuration::from_hours(366 * 24);
/// The maximum length of a contact, in bytes.
const MAX_CONTACT_BYTES: usize = 500;

impl SecurityContact {
    /// Parses the contacts, separated by commas, and the time.
    pub fn parse(contacts: &str, expires: &str) -> Result<Self, ContactError> {
        let contacts: Vec<String> = contacts.split(',').map(|one| one.trim().to_owned()).collect();
        if let Some(wrong) = contacts.iter().find(|one| !is_contact(one)) {
            return Err(ContactError::Contact(wrong.clone()));
        }
        // The parser accepts more than RFC 3339 permits, such as the name of a time zone in
        // brackets.
        let has_only = expires.bytes().all(|byte| byte.is_ascii_digit() || b"-:.+TZ".contains(&byte));
        let time = expires.parse().ok().filter(|_| has_only && expires.contains('T'));
        Ok(Self { contacts, expires: time.ok_or_else(|| ContactError::Expiry(expires.to_owned()))? })
    }

    /// Why the time needs attention; `None` if the time is as recommended.
    pub fn stale(&self, now: Timestamp) -> Option<Staleness> {
        match self.expires.duration_since(now) {
            left if left <= SignedDuration::ZERO => Some(Staleness::Expired),
            left if left > MAX_AHEAD => Some(Staleness::Distant),
            _ => None,
        }
    }
}

/// Whether a string is a URI with a permitted scheme and at most [`MAX_CONTACT_BYTES`] bytes long.
/// Only printable ASCII is permitted, so that a contact cannot start a new line of the document.
fn is_contact(text: &str) -> bool {
    let is_plain = text.len() <= MAX_CONTACT_BYTES && text.bytes().all(|byte| byte.is_ascii_graphic());
    let Ok(url) = url::Url::parse(text) else { return false };
    let is_whole = match url.scheme() {
        "https" => url.has_host(),
        "mailto" => url.path().split_once('@').is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty()),
        "tel" => url.path().bytes().any(|byte| byte.is_ascii_digit()),
        _ => false,
    };
    is_plain && is_whole
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "2027-01-31T00:00:00Z";

    #[test]
    fn contacts_are_uris_of_three_schemes() {
        let two = SecurityContact::parse("mailto:security@example.com, https://example.com/report", TIME).unwrap();
        assert_eq!(two.contacts, ["mailto:security@example.com", "https://example.com/report"]);
        assert!(SecurityContact::parse("tel:+1-201-555-0123", TIME).is_ok());
        for wrong in [
            "",
            "security@example.com",
            "http://example.com",
            "mailto:nobody",
            "mailto:@example.com",
            "tel:",
            "https://",
            "javascript:alert(1)",
            "mailto:a@example.com\nExpires: 2099-01-01T00:00:00Z",
            "mailto:a@example.com,",
        ] {
            assert!(matches!(SecurityContact::parse(wrong, TIME), Err(ContactError::Contact(_))), "{wrong:?}");
        }
    }

    #[test]
    fn the_expiry_is_a_date_time_of_rfc_3339() {
        for wrong in ["", "2027-01-31", "soon", "2027-02-30T00:00:00Z", "2027-01-31T00:00:00", "2027-01-31T00:00:00Z[UTC]"] {
            let error = SecurityContact::parse("tel:+1", wrong).unwrap_err();
            assert_eq!(error, ContactError::Expiry(wrong.to_owned()));
            assert!(error.to_string().contains("2027-01-31T00:00:00Z"), "{error}");
        }
    }

    #[test]
    fn a_time_that_has_passed_or_is_far_ahead_is_noticed() {
        let contact = SecurityContact::parse("tel:+1", TIME).unwrap();
        let at = |time: &str| contact.stale(time.parse().unwrap());
        assert_eq!(at("2027-01-30T23:59:59Z"), None);
        assert_eq!(at(TIME), Some(Staleness::Expired));
        assert_eq!(at("2026-01-30T00:00:00Z"), None);
        assert_eq!(at("2026-01-29T00:00:00Z"), Some(Staleness::Distant));
    }
}
