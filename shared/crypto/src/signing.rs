//! ES256 keys that sign tokens: one key for each audience, derived from the deployment secret.
//! During a rotation, the keys of the previous secret are available too.
//!
//! Keys are derived instead of stored, so a cold start neither creates nor reads keys, and keys
//! cannot be lost. All instances derive the same keys. `jsonwebtoken` parses tokens and validates
//! their claims; [`crate::jws`] makes and verifies their signatures. The crate p256 computes the
//! public half of a key, which ring cannot do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{DecodingKey, EncodingKey};
use p256::elliptic_curve::sec1::ToSec1Point as _;
use secrecy::SecretString;
use serde_json::{Value, json};

use crate::deployment_secret::DeploymentSecret;

/// The maximum number of keys that an instance caches: enough for the four audiences of 128
/// projects during a rotation.
const KEPT_KEYS: usize = 1024;

/// The keys of a deployment.
pub struct SigningKeys {
    secret: DeploymentSecret,
    /// The cached keys, by secret (0 for the current secret, 1 for the previous one) and audience.
    keys: Mutex<HashMap<(usize, String), Arc<SigningKey>>>,
}

/// A key that signs and verifies tokens of one audience.
pub struct SigningKey {
    /// The `kid` of the key (RFC 7517 §4.5).
    pub id: String,
    /// The half that signs.
    pub encoding: EncodingKey,
    /// The half that verifies.
    pub decoding: DecodingKey,
    /// The public key as an uncompressed point (SEC 1 §2.3.3): the byte 4, then x, then y.
    public: [u8; 65],
}

impl SigningKeys {
    /// The keys of the current and the previous secret; each is derived on first use.
    pub fn new(secret: &DeploymentSecret) -> Self {
        crate::jws::install();
        Self { secret: secret.clone(), keys: Mutex::default() }
    }

    /// The key that signs new tokens of an audience.
    #[expect(clippy::expect_used, reason = "operations that sign have the secret; the contract tests check this for every route")]
    pub fn current(&self, audience: &str) -> Arc<SigningKey> {
        self.all(audience).next().expect("the function has the deployment secret")
    }

    /// The keys of an audience: the key derived from the current secret, then the key derived from
    /// the previous one.
    pub fn all<'a>(&'a self, audience: &'a str) -> impl Iterator<Item = Arc<SigningKey>> + 'a {
        self.secret.generations().enumerate().map(move |(generation, secret)| self.key_of(generation, secret, audience))
    }

    fn key_of(&self, generation: usize, secret: &SecretString, audience: &str) -> Arc<SigningKey> {
        let name = (generation, audience.to_owned());
        if let Some(key) = self.keys.lock().unwrap_or_else(PoisonError::into_inner).get(&name) {
            return Arc::clone(key);
        }
        let key = Arc::new(SigningKey::derive(secret, audience));
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() >= KEPT_KEYS {
            keys.clear();
        }
        keys.insert(name, Arc::clone(&key));
        key
    }

    /// The public keys of these audiences (RFC 7517): the keys derived from the current secret,
    /// then those derived from the previous secret.
    pub fn jwks(&self, audiences: &[String]) -> Vec<Value> {
        let generations = self.secret.generations().enumerate();
        let keys =
            generations.flat_map(|(generation, secret)| audiences.iter().map(move |name| self.key_of(generation, secret, name).jwk()));
        keys.collect()
    }
}

impl SigningKey {
    #[expect(clippy::expect_used, reason = "if a derived scalar is invalid, a later attempt succeeds")]
    fn derive(secret: &SecretString, audience: &str) -> Self {
        // About one in 2^32 random 256-bit numbers is not a valid scalar; in that case, the next
        // attempt derives another number.
        let scalar = (0..=u8::MAX)
            .find_map(|attempt| p256::SecretKey::from_slice(&crate::derive(secret, &[b"token ", audience.as_bytes(), &[attempt]])).ok())
            .expect("one of 256 attempts gives a valid scalar");
        let point = scalar.public_key().to_sec1_point(false);
        let mut public = [0; 65];
        public.copy_from_slice(point.as_bytes());
        let private = [&scalar.to_bytes()[..], &public].concat();
        let id = crate::digest::Digest::of(&format!("{audience}{}", URL_SAFE_NO_PAD.encode(public)));
        Self {
            id: id.as_str()[..12].to_owned(),
            encoding: EncodingKey::from_ec_der(&private),
            decoding: DecodingKey::from_ec_der(&public),
            public,
        }
    }

    fn jwk(&self) -> Value {
        let (x, y) = self.public[1..].split_at(32);
        let (x, y) = (URL_SAFE_NO_PAD.encode(x), URL_SAFE_NO_PAD.encode(y));
        json!({ "kty": "EC", "use": "sig", "alg": "ES256", "crv": "P-256", "x": x, "y": y, "kid": self.id })
    }
}
