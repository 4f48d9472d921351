//! RSA keys that sign tokens with RS256 (RFC 7518 §3.3), for verifiers that do not accept anything
//! else, such as the authorizers of AWS's HTTP APIs.
//!
//! ring signs and verifies tokens ([`crate::jws`]), but cannot generate keys. The crate `rsa` can
//! generate keys; only the operation that creates keys depends on it.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use jsonwebtoken::errors::Error as JwtError;
use jsonwebtoken::{DecodingKey, EncodingKey};
use ring::rsa::{KeyPair, PublicKeyComponents};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::digest::Digest;

/// The public half of an RSA key: its parameters in a JWK (RFC 7518 §6.3.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RsaPublicKey {
    /// The modulus, encoded with base64url.
    n: String,
    /// The exponent, encoded with base64url.
    e: String,
}

/// The private half of an RSA key: PKCS #8 (RFC 5958), encoded with base64.
pub struct RsaPrivateKey(SecretString);

/// The input is not an RSA key that ring accepts: 2048 to 4096 bits, with a consistent modulus.
#[derive(Debug, thiserror::Error)]
#[error("not an RSA key of at least 2048 bits")]
pub struct Error;

impl RsaPublicKey {
    /// The `kid` of the key (RFC 7517 §4.5).
    pub fn id(&self) -> String {
        Digest::of(&self.n).as_str()[..12].to_owned()
    }

    /// The key in a JWK set.
    pub fn jwk(&self) -> Value {
        json!({ "kty": "RSA", "use": "sig", "alg": "RS256", "n": self.n, "e": self.e, "kid": self.id() })
    }

    /// The key in the form that `jsonwebtoken` needs for verifying.
    pub fn decoding(&self) -> Result<DecodingKey, JwtError> {
        DecodingKey::from_rsa_components(&self.n, &self.e)
    }
}

impl RsaPrivateKey {
    /// Checks a key in PKCS #8, and returns it with its public half.
    pub fn parse(pkcs8: &[u8]) -> Result<(Self, RsaPublicKey), Error> {
        let pair = KeyPair::from_pkcs8(pkcs8).map_err(|_| Error)?;
        let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(pair.public());
        let public = RsaPublicKey { n: URL_SAFE_NO_PAD.encode(n), e: URL_SAFE_NO_PAD.encode(e) };
        Ok((Self(STANDARD_NO_PAD.encode(pkcs8).into()), public))
    }

    /// Wraps the text of a key without checking it; signing fails if the text is not a key.
    pub fn from_text(text: SecretString) -> Self {
        Self(text)
    }

    /// The text to seal.
    pub fn text(&self) -> &SecretString {
        &self.0
    }

    /// The key in the form that `jsonwebtoken` needs for signing.
    pub fn encoding(&self) -> Result<EncodingKey, Error> {
        let pkcs8 = STANDARD_NO_PAD.decode(self.0.expose_secret()).map_err(|_| Error)?;
        Ok(EncodingKey::from_rsa_der(&pkcs8))
    }
}
