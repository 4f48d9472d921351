//! Digests of secrets: what the table holds in place of codes, tokens and keys.
//!
//! The secrets are random and long (225 bits), so a fast digest is enough; passwords go through [`crate::password`].

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use serde::{Deserialize, Serialize};

/// SHA-256 of a secret, in base64url; equality is looked up by the store as a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Digest(String);

impl Digest {
    pub fn of(secret: &str) -> Self {
        Self::of_bytes(secret.as_bytes())
    }

    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(URL_SAFE_NO_PAD.encode(digest(&SHA256, bytes)))
    }

    /// Reads a digest that is part of an address.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == SHA256_OUTPUT_LEN).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
