//! The public keys of issuers (RFC 7517).
//!
//! Anyone with a project can name an issuer, so key sets may be hostile, and genuine ones may
//! contain keys of unknown types. Only the few fields needed for verifying are therefore read, and
//! unknown content is skipped instead of refused.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use crypto::jws::{Algorithm, PublicKey};
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::jwt::Jwt;

/// The maximum number of keys kept from a set. Large issuers publish about ten keys.
pub(crate) const MAX_KEYS: usize = 64;
/// The maximum number of keys tried for a signature.
const MAX_TRIED: usize = 8;

/// The keys of an issuer that verify signatures.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keys(pub(crate) Vec<Key>);

/// The fields of a key needed for verifying (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Key {
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
    /// The token does not say which of several keys signed it.
    Ambiguous,
}

impl Keys {
    /// Whether there are no keys.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Verifies a token with the keys that may have signed it: the keys with the token's key id or,
    /// if there are none, keys without an id. A token may omit the key id only if there is a single
    /// key of the right type (OpenID Connect Core §10.1).
    pub(crate) fn verify(&self, jwt: &Jwt<'_>, algorithm: Algorithm) -> Verification {
        let of_type: Vec<&Key> = self.0.iter().filter(|key| key.may_sign(algorithm, &jwt.algorithm)).collect();
        let named = |id: Option<&str>| -> Vec<&Key> { of_type.iter().copied().filter(|key| key.kid.text() == id).collect() };
        let candidates = match jwt.key_id.as_deref() {
            None if of_type.len() > 1 => return Verification::Ambiguous,
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

    /// Whether the key could have made a signature with this algorithm, which the token calls
    /// `name`.
    pub(crate) fn may_sign(&self, algorithm: Algorithm, name: &str) -> bool {
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

    /// The key itself. Numbers may have more or fewer leading zeros than RFC 7518 (§6.2.1.2,
    /// §6.3.1.1) requires, and base64 may have padding. The libraries of some issuers write numbers
    /// like this, and they are still unambiguous.
    pub(crate) fn public(&self) -> Option<PublicKey> {
        let number = |field: &Field| {
            let bytes = bytes(field)?;
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            Some(bytes[zeros..].to_vec())
        };
        match self.kty.text()? {
            "RSA" => Some(PublicKey::Rsa { n: number(&self.n)?, e: number(&self.e)? }),
            "EC" => {
                let size = match self.crv.text()? {
                    "P-256" => 32,
                    "P-384" => 48,
                    _ => 66,
                };
                let coordinate = |field: &Field| {
                    let digits = number(field)?;
                    Some([vec![0; size - digits.len().min(size)], digits].concat())
                };
                Some(PublicKey::Point([vec![4], coordinate(&self.x)?, coordinate(&self.y)?].concat()))
            }
            "OKP" => bytes(&self.x).map(PublicKey::Point),
            _ => None,
        }
    }
}

/// The bytes that a field encodes in base64url (RFC 7515 §2).
fn bytes(field: &Field) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(field.text()?.trim_end_matches('=')).ok()
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

/// The relevant part of a field's value; values of unexpected types are ignored.
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
