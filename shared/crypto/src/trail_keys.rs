//! Authentication codes of the trail's links and heads (HMAC-SHA-256, RFC 2104), with a key that is derived from the deployment secret: who
//! can write to the table cannot make them.
//!
//! Codes of the previous secret are accepted while it is named; `gateway reseal` makes them anew.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::deployment_secret::DeploymentSecret;

/// An authentication code, in base64url.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mac(String);

/// Makes and verifies authentication codes.
pub struct TrailKeys {
    current: Option<hmac::Key>,
    previous: Option<hmac::Key>,
}

/// Whose key an authentication code is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generation {
    Current,
    Previous,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there is no deployment secret to make an authentication code with")]
pub struct NoSecret;

impl TrailKeys {
    pub fn new(secret: &DeploymentSecret) -> Self {
        Self { current: secret.current().map(key), previous: secret.previous().map(key) }
    }

    /// The code of a text, with the current secret.
    pub fn sign(&self, text: &str) -> Result<Mac, NoSecret> {
        let key = self.current.as_ref().ok_or(NoSecret)?;
        Ok(Mac(URL_SAFE_NO_PAD.encode(hmac::sign(key, text.as_bytes()))))
    }

    /// Whose code it is, if it is one of this text.
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
    fn a_code_is_of_one_text_and_of_the_secrets_that_are_named() {
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
    fn without_a_secret_nothing_is_signed_or_believed() {
        let keyless = TrailKeys::new(&DeploymentSecret::absent());
        assert_eq!(keyless.sign("text"), Err(NoSecret));
        let code = TrailKeys::new(&secret("a deployment secret of some length")).sign("text").unwrap();
        assert_eq!(keyless.verify("text", &code), None);
    }
}
