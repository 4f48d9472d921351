//! Message authentication codes for the audit trail's hash chains: for the links of each chain, and
//! for its head (HMAC-SHA-256, RFC 2104). The key is derived from the deployment secret, so write
//! access to the table is not enough to forge a code.
//!
//! Codes made with the previous secret are accepted while the previous secret is configured;
//! `gateway reseal` replaces these codes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::deployment_secret::DeploymentSecret;

/// A message authentication code, in base64url.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mac(String);

/// Makes and verifies message authentication codes.
pub struct TrailKeys {
    current: Option<hmac::Key>,
    previous: Option<hmac::Key>,
}

/// Which deployment secret a message authentication code was made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    /// The current secret.
    Current,
    /// The previous secret, which is being rotated out.
    Previous,
}

/// The function does not have a deployment secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("cannot sign the audit trail's chain: this function has no deployment secret")]
pub struct NoSecret;

impl TrailKeys {
    /// Derives the keys of the current and the previous secret.
    pub fn new(secret: &DeploymentSecret) -> Self {
        Self { current: secret.current().map(key), previous: secret.previous().map(key) }
    }

    /// The message authentication code of a text, made with the current secret.
    pub fn sign(&self, text: &str) -> Result<Mac, NoSecret> {
        let key = self.current.as_ref().ok_or(NoSecret)?;
        Ok(Mac(URL_SAFE_NO_PAD.encode(hmac::sign(key, text.as_bytes()))))
    }

    /// The secret that `mac` was made with; `None` if `mac` does not authenticate this text.
    pub fn verify(&self, text: &str, mac: &Mac) -> Option<Generation> {
        let tag = URL_SAFE_NO_PAD.decode(&mac.0).ok()?;
        let is_of = |key: &Option<hmac::Key>| key.as_ref().is_some_and(|key| hmac::verify(key, text.as_bytes(), &tag).is_ok());
        match (is_of(&self.current), is_of(&self.previous)) {
            (true, _) => Some(Generation::Current),
            (_, true) => Some(Generation::Previous),
            _ => None,
        }
    }
}

fn key(secret: &SecretString) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &crate::derive(secret, &[b"trail"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> DeploymentSecret {
        DeploymentSecret::from(text.to_owned())
    }

    #[test]
    fn a_code_authenticates_one_text_under_the_given_secrets() {
        let (old, new) = ("a deployment secret of some length", "the deployment secret that comes after it");
        let code = TrailKeys::new(&secret(old)).sign("text").unwrap();
        let both = TrailKeys::new(&secret(new).with_previous(old.to_owned().into()));
        assert_eq!(TrailKeys::new(&secret(old)).verify("text", &code), Some(Generation::Current));
        assert_eq!(both.verify("text", &code), Some(Generation::Previous));
        assert_eq!(both.verify("texts", &code), None);
        assert_eq!(TrailKeys::new(&secret(new)).verify("text", &code), None);
        assert_eq!(both.verify("text", &Mac("no base64!".to_owned())), None);
    }

    #[test]
    fn without_a_secret_no_text_is_signed_or_authenticated() {
        let keyless = TrailKeys::new(&DeploymentSecret::absent());
        assert_eq!(keyless.sign("text"), Err(NoSecret));
        let code = TrailKeys::new(&secret("a deployment secret of some length")).sign("text").unwrap();
        assert_eq!(keyless.verify("text", &code), None);
    }
}
