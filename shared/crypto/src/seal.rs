//! Encryption of secrets that must be read again, such as a provider's client secret, and of
//! cursors, which callers can neither read nor forge. The keys are derived from the deployment
//! secret: the current key seals values, and the current or the previous key opens them.
//!
//! Values are sealed with ChaCha20-Poly1305 (RFC 8439) and begin with the random nonce. The owner
//! is part of the authenticated data, so a sealed value cannot be opened for another owner, such as
//! another project.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use wire::entropy::Entropy;

use crate::deployment_secret::DeploymentSecret;

/// An encrypted secret, as stored in the table, or an encrypted cursor of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SealedText(String);

impl SealedText {
    /// Wraps text without checking it; [`Sealer::open`] fails if the text is not a sealed value.
    pub fn from_text(text: String) -> Self {
        Self(text)
    }

    /// The text to store.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// Stores a sealed value as bytes (`#[serde(with)]`), which take less room than text. Values stored
/// as text can be read too.
pub mod packed {
    use std::fmt;

    use base64::Engine as _;
    use serde::de::{Deserializer, Error, Visitor};
    use serde::ser::Serializer;

    use super::{SealedText, URL_SAFE_NO_PAD};

    /// Writes a sealed value as bytes, and any other text as text.
    pub fn serialize<S: Serializer>(sealed: &SealedText, serializer: S) -> Result<S::Ok, S::Error> {
        match URL_SAFE_NO_PAD.decode(&sealed.0) {
            Ok(bytes) => serializer.serialize_bytes(&bytes),
            Err(_) => serializer.serialize_str(&sealed.0),
        }
    }

    /// Reads bytes or text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SealedText, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }

    struct TextVisitor;

    impl Visitor<'_> for TextVisitor {
        type Value = SealedText;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a sealed value")
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<SealedText, E> {
            Ok(SealedText(text.to_owned()))
        }

        fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<SealedText, E> {
            Ok(SealedText(URL_SAFE_NO_PAD.encode(bytes)))
        }
    }
}

/// Seals values with the current deployment secret, and opens them with the current or the previous
/// one.
pub struct Sealer {
    current: Option<LessSafeKey>,
    previous: Option<LessSafeKey>,
}

/// A value cannot be sealed or opened.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot seal or open a secret: it is damaged, was sealed under another GATELET_SECRET or for another owner, or this function has no deployment secret"
)]
pub struct Error;

impl Sealer {
    /// Derives the keys of the current and the previous secret.
    pub fn new(secret: &DeploymentSecret) -> Self {
        Self { current: secret.current().map(key), previous: secret.previous().map(key) }
    }

    /// Encrypts a secret for `owner`. Fails only if the function does not have a deployment secret.
    pub fn seal(&self, entropy: &Entropy, owner: &str, secret: &SecretString) -> Result<SealedText, Error> {
        let nonce: [u8; NONCE_LEN] = entropy.bytes();
        let mut text = secret.expose_secret().as_bytes().to_vec();
        let aad = Aad::from(owner.as_bytes());
        let key = self.current.as_ref().ok_or(Error)?;
        key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut text).map_err(|_| Error)?;
        Ok(SealedText(URL_SAFE_NO_PAD.encode([&nonce[..], &text].concat())))
    }

    /// Reseals a secret with the current key; `None` if the secret is already sealed with that key.
    pub fn renew(&self, entropy: &Entropy, owner: &str, sealed: &SealedText) -> Result<Option<SealedText>, Error> {
        let bytes = URL_SAFE_NO_PAD.decode(&sealed.0).map_err(|_| Error)?;
        if self.current.as_ref().is_some_and(|key| open(key, owner, &bytes).is_ok()) {
            return Ok(None);
        }
        self.seal(entropy, owner, &self.open(owner, sealed)?).map(Some)
    }

    /// Decrypts a secret sealed for `owner`.
    pub fn open(&self, owner: &str, sealed: &SealedText) -> Result<SecretString, Error> {
        let bytes = URL_SAFE_NO_PAD.decode(&sealed.0).map_err(|_| Error)?;
        self.current.iter().chain(&self.previous).find_map(|key| open(key, owner, &bytes).ok()).ok_or(Error)
    }
}

fn key(secret: &SecretString) -> LessSafeKey {
    let key = crate::derive(secret, &[b"seal"]);
    #[expect(clippy::expect_used, reason = "32 bytes are the length of this algorithm's key")]
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).expect("the length is right"))
}

fn open(key: &LessSafeKey, owner: &str, bytes: &[u8]) -> Result<SecretString, Error> {
    let (nonce, text) = bytes.split_at_checked(NONCE_LEN).ok_or(Error)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Error)?;
    let mut text = text.to_vec();
    let plain = key.open_in_place(nonce, Aad::from(owner.as_bytes()), &mut text).map_err(|_| Error)?;
    Ok(String::from_utf8(plain.to_vec()).map_err(|_| Error)?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sealed_secret_opens_only_for_its_owner() -> Result<(), Error> {
        let sealer = Sealer::new(&"a deployment secret of some length".to_owned().into());
        let sealed = sealer.seal(&Entropy::system(), "project/github", &"s3cret".to_owned().into())?;
        assert_eq!(sealer.open("project/github", &sealed)?.expose_secret(), "s3cret");
        assert!(sealer.open("other/github", &sealed).is_err());
        assert!(!sealed.0.contains("s3cret"));
        Ok(())
    }

    #[test]
    fn without_a_secret_nothing_is_sealed_or_opened() -> Result<(), Error> {
        let owner = "project/github";
        let sealed = Sealer::new(&"a deployment secret of some length".to_owned().into()).seal(
            &Entropy::system(),
            owner,
            &"s3cret".to_owned().into(),
        )?;
        let keyless = Sealer::new(&DeploymentSecret::absent());
        assert!(keyless.open(owner, &sealed).is_err());
        assert!(keyless.seal(&Entropy::system(), owner, &"s3cret".to_owned().into()).is_err());
        Ok(())
    }
}
