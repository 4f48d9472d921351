//! Keys with which issuers sign tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use serde_json::{Value, json};

/// A key of an issuer.
#[derive(Clone)]
pub struct Key {
    /// The number of the key, which its id contains.
    number: u8,
    id: Option<String>,
    secret: p256::SecretKey,
}

impl Key {
    pub fn new(number: u8) -> Self {
        let secret = p256::SecretKey::from_slice(&[number + 1; 32]).unwrap();
        Self { number, id: Some(format!("key-{number}")), secret }
    }

    /// Another key with another id.
    pub fn next(&self) -> Self {
        Self::new(self.number + 1)
    }

    /// Another key with the same id.
    pub fn forged(&self) -> Self {
        Self { id: self.id.clone(), ..Self::new(99) }
    }

    /// The key without an id.
    pub fn nameless(self) -> Self {
        Self { id: None, ..self }
    }

    fn public(&self) -> Vec<u8> {
        self.secret.public_key().to_sec1_point(false).as_bytes().to_vec()
    }

    pub fn sign(&self, claims: &Value) -> String {
        let der = [&self.secret.to_bytes()[..], &self.public()].concat();
        let header = Header { kid: self.id.clone(), ..Header::new(Algorithm::ES256) };
        jsonwebtoken::encode(&header, claims, &EncodingKey::from_ec_der(&der)).unwrap()
    }

    /// A token signed with a secret that both sides know (HS256).
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
        let part = |range| URL_SAFE_NO_PAD.encode(&public[range]);
        let mut jwk = json!({ "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "x": part(1..33), "y": part(33..65) });
        if let Some(id) = &self.id {
            jwk["kid"] = json!(id);
        }
        jwk
    }
}
