//! By whom or what something is counted.

use std::fmt;
use std::net::IpAddr;

use crypto::digest::Digest;
use secrecy::{ExposeSecret as _, SecretString};
use wire::id::UserId;

/// Who or what is counted. Addresses of people and secrets are here as digests alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject(pub(crate) String);

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Subject {
    /// An IPv4 address, or the /64 of an IPv6 address: the least that a provider gives to one customer (RFC 6177).
    pub fn address(ip: IpAddr) -> Self {
        match ip.to_canonical() {
            IpAddr::V4(ip) => Self(ip.to_string()),
            IpAddr::V6(ip) => {
                let [a, b, c, d, ..] = ip.segments();
                Self(format!("{a:x}:{b:x}:{c:x}:{d:x}::/64"))
            }
        }
    }

    /// The /24 of an IPv4 address, or the /48 of an IPv6 address: what a site has at most (RFC 6177).
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

    pub fn project() -> Self {
        Self("project".to_owned())
    }

    /// The OAuth flows of the project together.
    pub fn flows() -> Self {
        Self("flows".to_owned())
    }

    pub fn user(id: UserId) -> Self {
        Self(id.to_string())
    }

    /// A key or a refresh token, and so whoever has it.
    pub fn secret(secret: &SecretString) -> Self {
        Self(Digest::of(secret.expose_secret()).to_string())
    }

    /// A proof that a user gives besides signing in with a password. What people send as an address
    /// is a digest, and so never one of these.
    pub fn proof(kind: &str, user: UserId) -> Self {
        Self(format!("{kind}:{user}"))
    }

    /// A mail address, in its normalised form when it has one.
    pub fn email(text: &str) -> Self {
        Self(Digest::of(text).to_string())
    }
}
