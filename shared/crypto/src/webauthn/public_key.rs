//! Public keys of passkeys, in the form sent by authenticators: `COSE_Key` (RFC 9052 §7, RFC 9053
//! §7, RFC 8230 §4) of the algorithms offered in options.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ciborium::Value;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::webauthn::{Refusal, cbor};

/// The COSE identifiers of the supported algorithms, in order of preference: `EdDSA`, ES256 and
/// RS256.
pub const ALGORITHMS: [i32; 3] = [-8, -7, -257];

/// The longest key, in bytes; RSA with 8192 bits takes 1,040.
const MAX_LENGTH: usize = 1100;

/// The public key of a passkey.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    cose: Vec<u8>,
    key: Key,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    /// An uncompressed point (SEC 1 §2.3.3).
    Es256([u8; 65]),
    Ed25519([u8; 32]),
    Rs256 {
        n: Vec<u8>,
        e: Vec<u8>,
    },
}

impl PublicKey {
    /// Parses a `COSE_Key`. Points that are not on the curve P-256 and RSA keys that ring does not
    /// accept are refused here, so that passkeys with such keys are not stored. Ed25519 keys are
    /// only checked when a signature is verified.
    pub fn parse(cose: &[u8]) -> Result<Self, Refusal> {
        let key = Some(cose).filter(|cose| cose.len() <= MAX_LENGTH).and_then(Key::parse).ok_or(Refusal::UnsupportedKey)?;
        Ok(Self { cose: cose.to_vec(), key })
    }

    /// Verifies the signature of a message.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), Refusal> {
        let verified = match &self.key {
            Key::Es256(point) => UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_ASN1, point).verify(message, signature),
            Key::Ed25519(point) => UnparsedPublicKey::new(&signature::ED25519, point).verify(message, signature),
            Key::Rs256 { n, e } => RsaPublicKeyComponents { n, e }.verify(&signature::RSA_PKCS1_2048_8192_SHA256, message, signature),
        };
        verified.map_err(|_| Refusal::WrongSignature)
    }
}

impl Key {
    fn parse(cose: &[u8]) -> Option<Self> {
        let Value::Map(map) = cbor::only(cose)? else { return None };
        let number = |label: i32| cbor::entry(&map, &label.into())?.as_integer().and_then(|number| i64::try_from(number).ok());
        let bytes = |label: i32| cbor::entry(&map, &label.into())?.as_bytes();
        // The key type, the algorithm and the curve.
        match (number(1)?, number(3)?, number(-1)) {
            (2, -7, Some(1)) => {
                let mut point = [4; 65];
                point[1..33].copy_from_slice(bytes(-2).filter(|x| x.len() == 32)?);
                point[33..].copy_from_slice(bytes(-3).filter(|y| y.len() == 32)?);
                p256::PublicKey::from_sec1_bytes(&point).ok()?;
                Some(Self::Es256(point))
            }
            (1, -8, Some(6)) => Some(Self::Ed25519(bytes(-2)?.as_slice().try_into().ok()?)),
            // -1 and -2 are the modulus and the exponent. ring verifies with moduli of 2048 to
            // 8192 bits, and odd exponents of at most 33 bits.
            (3, -257, _) => {
                let (n, e) = (bytes(-1)?.clone(), bytes(-2)?.clone());
                let is_usable = (256..=1024).contains(&n.len()) && n[0] != 0 && (1..=4).contains(&e.len()) && e[0] != 0;
                let is_odd = |number: &[u8]| number.last().is_some_and(|last| last % 2 == 1);
                (is_usable && is_odd(&n) && is_odd(&e) && e.as_slice() != [1]).then_some(Self::Rs256 { n, e })
            }
            _ => None,
        }
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&URL_SAFE_NO_PAD.encode(&self.cose))
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let cose = URL_SAFE_NO_PAD.decode(text).map_err(de::Error::custom)?;
        Self::parse(&cose).map_err(de::Error::custom)
    }
}
