//! Cryptography, built on ring. Other crates are used only for what ring does not support:
//! argon2id, bcrypt, TOTP, computing public keys from private ones, checking that a point is on the
//! curve P-256, and verifying signatures with P-521. The crate `rsa`, which generates RSA keys, is
//! a dependency only of the operation that needs it.

#![warn(missing_docs)]

pub mod challenge_key;
pub mod deployment_secret;
pub mod digest;
pub mod jws;
pub mod password;
pub mod rsa_key;
pub mod seal;
pub mod shared_secret;
pub mod signing;
pub mod totp;
pub mod trail_keys;
pub mod webauthn;
pub mod webhook;

use ring::hkdf;
use secrecy::{ExposeSecret, SecretString};

/// Derives 32 bytes for a given purpose from the deployment secret (HKDF-SHA-256, RFC 5869).
fn derive(secret: &SecretString, purpose: &[&[u8]]) -> [u8; 32] {
    let salt = hkdf::Salt::new(hkdf::HKDF_SHA256, b"gatelet");
    let mut key = [0; 32];
    #[expect(clippy::expect_used, reason = "32 bytes are within HKDF-SHA-256's limit of 8160")]
    salt.extract(secret.expose_secret().as_bytes())
        .expand(purpose, hkdf::HKDF_SHA256)
        .and_then(|okm| okm.fill(&mut key))
        .expect("the length is valid");
    key
}
