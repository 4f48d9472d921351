//! Digests, which the table stores in place of codes, tokens and keys. Content is also named and
//! compared by digest.
//!
//! Almost all codes, tokens and keys have at least 128 random bits, so a fast digest is enough. The
//! shorter codes that people type expire within minutes. Passwords use [`crate::password`] instead.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, SHA512, digest};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use wire::entropy::crockford;

/// SHA-256 of a secret or of content, in base64url. Secrets are looked up and compared by digest,
/// so the duration of a comparison does not reveal anything about a secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest(String);

impl Digest {
    /// The digest of a text.
    pub fn of(secret: &str) -> Self {
        Self::from_bytes(secret.as_bytes())
    }

    /// The digest of bytes.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(digest(&SHA256, bytes)))
    }

    /// Parses a digest in a URL; `None` if the text is not a digest.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == SHA256_OUTPUT_LEN).then(|| Self(text.to_owned()))
    }

    /// The digest as base64url text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A code of 45 characters, derived from a secret without revealing it. Codes for different
/// purposes differ.
pub fn derived_code(purpose: &str, secret: &SecretString) -> SecretString {
    let hash = digest(&SHA512, format!("{purpose}\n{}", secret.expose_secret()).as_bytes());
    crockford(&hash.as_ref()[..45]).into()
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
