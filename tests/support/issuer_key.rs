//! Keys that issuers use to sign tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::elliptic_curve::sec1::ToSec1Point as _;
use p521::ecdsa::signature::Signer as _;
use serde_json::{Value, json};

#[derive(Clone)]
pub struct Key {
    /// The number of the key, which is part of its id.
    number: u8,
    id: Option<String>,
    secret: Secret,
}

#[derive(Clone)]
enum Secret {
    P256(p256::SecretKey),
    P521(p521::ecdsa::SigningKey),
}

impl Key {
    pub fn new(number: u8) -> Self {
        let secret = Secret::P256(p256::SecretKey::from_slice(&[number + 1; 32]).unwrap());
        Self { number, id: Some(format!("key-{number}")), secret }
    }

    /// A key that signs with ES512.
    pub fn p521(number: u8) -> Self {
        let mut secret = [number + 1; 66];
        secret[0] = 0;
        let secret = Secret::P521(p521::ecdsa::SigningKey::from_slice(&secret).unwrap());
        Self { number, id: Some(format!("key-{number}")), secret }
    }

    /// A different key with a different id.
    pub fn next(&self) -> Self {
        Self::new(self.number + 1)
    }

    /// A different key with the same id.
    pub fn forged(&self) -> Self {
        let other = if matches!(self.secret, Secret::P256(_)) { Self::new(99) } else { Self::p521(99) };
        Self { id: self.id.clone(), ..other }
    }

    /// The same key without an id.
    pub fn nameless(self) -> Self {
        Self { id: None, ..self }
    }

    /// The uncompressed public point.
    fn public(&self) -> Vec<u8> {
        match &self.secret {
            Secret::P256(secret) => secret.public_key().to_sec1_point(false).as_bytes().to_vec(),
            Secret::P521(secret) => secret.verifying_key().to_sec1_point(false).as_bytes().to_vec(),
        }
    }

    /// The header of the tokens that the key signs.
    pub(crate) fn header(&self) -> Value {
        let algorithm = if matches!(self.secret, Secret::P256(_)) { "ES256" } else { "ES512" };
        let mut header = json!({ "typ": "JWT", "alg": algorithm });
        if let Some(id) = &self.id {
            header["kid"] = json!(id);
        }
        header
    }

    pub fn sign(&self, claims: &Value) -> String {
        self.sign_with(&self.header(), claims)
    }

    /// A token with this header, no matter which algorithm the header names.
    pub(crate) fn sign_with(&self, header: &Value, claims: &Value) -> String {
        let signed = [header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
        let signature = match &self.secret {
            Secret::P256(secret) => {
                let signature: p256::ecdsa::Signature = p256::ecdsa::SigningKey::from(secret).sign(signed.as_bytes());
                URL_SAFE_NO_PAD.encode(signature.to_bytes())
            }
            Secret::P521(secret) => {
                let signature: p521::ecdsa::Signature = secret.sign(signed.as_bytes());
                URL_SAFE_NO_PAD.encode(signature.to_bytes())
            }
        };
        format!("{signed}.{signature}")
    }

    /// A token signed with a shared secret (HS256).
    pub fn sign_with_secret(&self, claims: &Value, secret: &str) -> String {
        let parts = [json!({ "alg": "HS256" }), claims.clone()].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let signed = parts.join(".");
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(ring::hmac::sign(&key, signed.as_bytes())))
    }

    /// A token without a signature (`alg: none`).
    pub fn unsigned(&self, claims: &Value) -> String {
        let parts = [json!({ "alg": "none", "kid": self.id }), claims.clone()].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        format!("{}.{}.", parts[0], parts[1])
    }

    pub fn jwk(&self) -> Value {
        let public = self.public();
        let (x, y) = public[1..].split_at(public.len() / 2);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        let (curve, algorithm) = if matches!(self.secret, Secret::P256(_)) { ("P-256", "ES256") } else { ("P-521", "ES512") };
        let mut jwk = json!({ "kty": "EC", "crv": curve, "alg": algorithm, "use": "sig", "x": x, "y": y });
        if let Some(id) = &self.id {
            jwk["kid"] = json!(id);
        }
        jwk
    }
}
