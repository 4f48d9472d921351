//! The subjects of rate limits.

use std::fmt;
use std::net::IpAddr;

use crypto::digest::Digest;
use secrecy::{ExposeSecret as _, SecretString};
use wire::id::{SessionId, UserId};

/// The person or thing whose requests are counted. Email addresses and secrets are stored only as
/// digests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject(pub(crate) String);

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Subject {
    /// An IPv4 address, or the /64 of an IPv6 address, the smallest block that a provider assigns
    /// to a customer (RFC 6177).
    pub fn address(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Self(ip.to_string()),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                Self(format!("{a:x}:{b:x}:{c:x}:{d:x}::/64"))
            }
        }
    }

    /// The /24 of an IPv4 address, or the /48 of an IPv6 address, the largest block that a site
    /// usually has (RFC 6177).
    pub fn network(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => {
                let [a, b, c, _] = ip.octets();
                Self(format!("{a}.{b}.{c}.0/24"))
            }
            IpAddr::V6(ip) => {
                let [a, b, c, ..] = ip.segments();
                Self(format!("{a:x}:{b:x}:{c:x}::/48"))
            }
        }
    }

    /// The subject with this text, as it appears in the counter's key.
    pub fn named(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The project as a whole.
    pub fn project() -> Self {
        Self("project".to_owned())
    }

    /// All OAuth flows of the project.
    pub fn flows() -> Self {
        Self("flows".to_owned())
    }

    /// A user.
    pub fn user(id: UserId) -> Self {
        Self(id.to_string())
    }

    /// A session.
    pub fn session(id: SessionId) -> Self {
        Self(id.to_string())
    }

    /// A key, token, code or link. All requests with the same key, token, code or link count
    /// together.
    pub fn secret(secret: &SecretString) -> Self {
        Self::digest(&Digest::of(secret.expose_secret()))
    }

    /// The key, token, code or link with this digest.
    pub fn digest(digest: &Digest) -> Self {
        Self(digest.to_string())
    }

    /// Guesses at a secret of a known user: either the current password, in a password change or a
    /// reauthentication, or a code of the second factor. Unlike a digest, this subject contains a
    /// colon, so it cannot collide with the subject of an email address.
    pub fn proof(kind: &str, user: UserId) -> Self {
        Self(format!("{kind}:{user}"))
    }

    /// An email address. The caller normalizes `text`, so that all spellings count together.
    pub fn email(text: &str) -> Self {
        Self(Digest::of(text).to_string())
    }
}
