//! The public keys of issuers (RFC 7517).
//!
//! Anyone with a project can name an issuer, so key sets may be hostile, and genuine ones may
//! contain keys of unknown types. So only the few fields needed for verifying are read, and unknown
//! content is skipped, not refused.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::jws::{Algorithm, PublicKey};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::jwt::Jwt;

/// How many keys of a set are kept. Large issuers publish about ten.
const MAX_KEYS: usize = 64;
/// How many keys are tried for a signature.
const MAX_TRIED: usize = 8;

/// The keys of an issuer that verify signatures.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(Vec<Key>);

/// The fields of a key needed for verifying (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Key {
    kty: Field,
    kid: Field,
    alg: Field,
    r#use: Field,
    #[serde(rename = "key_ops")]
    operations: Field,
    crv: Field,
    n: Field,
    e: Field,
    x: Field,
    y: Field,
}

/// The result of verifying a token's signature with its issuer's keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verification {
    /// One of the keys made the signature.
    Signed,
    /// The token cannot have been signed with any of the keys.
    NoKey,
    /// Some keys could have made the signature, but none of them did.
    Forged,
}

impl Keys {
    /// Whether there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Verifies a token with the keys that may have signed it: the keys with the id in the token,
    /// or all keys of the right type if the token does not name an id. If none has the id, keys
    /// without an id are tried.
    pub(crate) fn verify(&self, jwt: &Jwt<'_>, algorithm: Algorithm) -> Verification {
        let of_type: Vec<&Key> = self.0.iter().filter(|key| key.may_sign(algorithm, &jwt.algorithm)).collect();
        let named = |id: Option<&str>| -> Vec<&Key> { of_type.iter().copied().filter(|key| key.kid.text() == id).collect() };
        let candidates = match jwt.key_id.as_deref() {
            None => of_type,
            Some(id) => Some(named(Some(id))).filter(|found| !found.is_empty()).unwrap_or_else(|| named(None)),
        };
        let (mut verification, signature) = (Verification::NoKey, jwt.signature_bytes());
        for key in candidates.iter().filter_map(|key| key.public()).take(MAX_TRIED) {
            if algorithm.verify(&key, jwt.signed.as_bytes(), &signature) {
                return Verification::Signed;
            }
            verification = Verification::Forged;
        }
        verification
    }
}

impl Key {
    /// Whether the key is public and meant for signatures.
    fn verifies(&self) -> bool {
        let is_for_it = self.r#use.text().is_none_or(|purpose| purpose == "sig") && !matches!(self.operations, Field::List(false));
        let is_known = match self.kty.text() {
            Some("EC") => matches!(self.crv.text(), Some("P-256" | "P-384" | "P-521")),
            Some("OKP") => self.crv.text() == Some("Ed25519"),
            _ => true,
        };
        is_for_it && is_known && self.public().is_some()
    }

    /// Whether the key could have made a signature with this algorithm, under this name.
    fn may_sign(&self, algorithm: Algorithm, name: &str) -> bool {
        let (kind, curve) = match algorithm {
            Algorithm::Es256 => ("EC", Some("P-256")),
            Algorithm::Es384 => ("EC", Some("P-384")),
            Algorithm::Es512 => ("EC", Some("P-521")),
            Algorithm::EdDsa => ("OKP", Some("Ed25519")),
            _ => ("RSA", None),
        };
        let is_alias = |own: &str| algorithm == Algorithm::EdDsa && matches!(own, "EdDSA" | "Ed25519");
        self.kty.text() == Some(kind)
            && curve.is_none_or(|curve| self.crv.text() == Some(curve))
            && self.alg.text().is_none_or(|own| own == name || is_alias(own))
    }

    fn public(&self) -> Option<PublicKey> {
        let bytes = |field: &Field| URL_SAFE_NO_PAD.decode(field.text()?).ok();
        match self.kty.text()? {
            "RSA" => Some(PublicKey::Rsa { n: bytes(&self.n)?, e: bytes(&self.e)? }),
            "EC" => Some(PublicKey::Point([vec![4], bytes(&self.x)?, bytes(&self.y)?].concat())),
            "OKP" => Some(PublicKey::Point(bytes(&self.x)?)),
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Document {
            #[serde(deserialize_with = "some_keys")]
            keys: Vec<Key>,
        }

        Document::deserialize(deserializer).map(|document| Self(document.keys))
    }
}

/// The first keys of a list that can verify signatures.
fn some_keys<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Key>, D::Error> {
    struct KeysVisitor;

    impl<'de> Visitor<'de> for KeysVisitor {
        type Value = Vec<Key>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list of keys")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Key>, A::Error> {
            let mut keys = Vec::new();
            while keys.len() < MAX_KEYS {
                let Some(key) = list.next_element::<Key>()? else { return Ok(keys) };
                if key.verifies() {
                    keys.push(key);
                }
            }
            while list.next_element::<IgnoredAny>()?.is_some() {}
            Ok(keys)
        }
    }

    deserializer.deserialize_seq(KeysVisitor)
}

/// The relevant part of a field's value; values that a field should not have are ignored.
#[derive(Debug, Clone, Default)]
enum Field {
    Text(String),
    /// A list: whether it contains the text `verify`.
    List(bool),
    #[default]
    Other,
}

impl Field {
    fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl<'de> Deserialize<'de> for Field {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldVisitor;

        impl<'de> Visitor<'de> for FieldVisitor {
            type Value = Field;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("anything")
            }

            fn visit_str<E>(self, text: &str) -> Result<Field, E> {
                Ok(Field::Text(text.to_owned()))
            }

            fn visit_bool<E>(self, _: bool) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_unit<E>(self) -> Result<Field, E> {
                Ok(Field::Other)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Field, A::Error> {
                let mut verifies = false;
                while let Some(element) = list.next_element::<Field>()? {
                    verifies |= element.text() == Some("verify");
                }
                Ok(Field::List(verifies))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Field, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Field::Other)
            }
        }

        deserializer.deserialize_any(FieldVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn key() -> Value {
        json!({ "kty": "EC", "crv": "P-256", "kid": "one", "x": "AA", "y": "AA" })
    }

    fn with(name: &str, value: Value) -> Value {
        let mut key = key();
        key[name] = value;
        key
    }

    fn read(keys: Vec<Value>) -> Keys {
        serde_json::from_value(json!({ "keys": keys })).expect("a set of keys")
    }

    #[test]
    fn a_set_of_keys_is_bounded() {
        assert_eq!(read(vec![key(); MAX_KEYS + 100]).0.len(), MAX_KEYS);
        for hostile in [json!({ "keys": { "": 0 } }), json!([{ "": 0 }]), json!({ "keys": ["text"] }), json!({})] {
            assert!(serde_json::from_value::<Keys>(hostile).is_err());
        }
    }

    #[test]
    fn keys_that_cannot_verify_are_left_out_and_the_others_are_read() {
        let odd = vec![
            json!({ "": vec![0; 1000] }),
            json!({ "kty": "AKP", "alg": "ML-DSA-44", "pub": "AA" }),
            json!({ "kty": "oct", "k": "AA" }),
            json!({ "kty": "RSA", "kid": "incomplete" }),
            with("crv", json!("secp256k1")),
            json!({ "kty": "OKP", "crv": "X25519", "x": "AA" }),
            with("use", json!("enc")),
            with("key_ops", json!(["sign", "encrypt"])),
            with("x", json!(7)),
        ];
        assert!(read(odd.clone()).is_empty());
        let mut all = odd;
        all.extend([key(), with("x5c", json!(vec![""; 1000])), with("use", json!("sig")), with("key_ops", json!(["verify"]))]);
        all.extend([with("crv", json!("P-521")), with("kid", json!(1)), with("alg", Value::Null), with("use", json!(true))]);
        assert_eq!(read(all).0.len(), 8);
    }

    /// The file was made with Node's `crypto`.
    #[test]
    fn every_algorithm_is_verified_as_another_implementation_signs() {
        let file: Value = serde_json::from_str(include_str!("keys_vectors.json")).expect("JSON");
        let keys: Keys = serde_json::from_value(file.clone()).expect("a set of keys");
        let tokens = file["tokens"].as_array().expect("a list");
        assert_eq!((keys.0.len(), tokens.len()), (5, 11));
        for token in tokens.iter().filter_map(Value::as_str) {
            let mut jwt = Jwt::parse(token).expect("a token");
            let algorithm = jwt.asymmetric().expect("a supported algorithm");
            assert_eq!(keys.verify(&jwt, algorithm), Verification::Signed, "{}", jwt.algorithm);
            jwt.signed = &token[..10];
            assert_eq!(keys.verify(&jwt, algorithm), Verification::Forged, "{}", jwt.algorithm);
        }
    }

    #[test]
    fn a_key_signs_only_with_its_own_algorithm() {
        let may_sign = |key: Value, algorithm, name: &str| read(vec![key]).0[0].may_sign(algorithm, name);
        assert!(may_sign(key(), Algorithm::Es256, "ES256") && may_sign(with("alg", json!("ES256")), Algorithm::Es256, "ES256"));
        assert!(!may_sign(key(), Algorithm::Es384, "ES384") && !may_sign(key(), Algorithm::Rs256, "RS256"));
        assert!(!may_sign(with("alg", json!("ES384")), Algorithm::Es256, "ES256"));
        let okp = |alg: &str| json!({ "kty": "OKP", "crv": "Ed25519", "x": "AA", "alg": alg });
        assert!(may_sign(okp("EdDSA"), Algorithm::EdDsa, "Ed25519") && may_sign(okp("Ed25519"), Algorithm::EdDsa, "EdDSA"));
        assert!(!may_sign(okp("ES256"), Algorithm::EdDsa, "EdDSA"));
    }
}
