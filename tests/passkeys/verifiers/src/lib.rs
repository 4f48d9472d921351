//! A software device, the responses that a page sends for this device, and the measurement of a
//! verifier.

use std::hint::black_box;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::{Value, json};

/// The relying party.
pub const RP_ID: &str = "example.com";
/// The origin of the page.
pub const ORIGIN: &str = "https://example.com";
/// The id of the user, which has 64 bytes.
pub const USER: &[u8; 64] = &[7; 64];
/// The number of times that each ceremony is verified.
const TIMES: u32 = 2000;

/// Encodes bytes like a page does.
pub fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Decodes the output of [`encoded`]; panics on any other input.
pub fn decoded(value: &Value) -> Vec<u8> {
    URL_SAFE_NO_PAD.decode(value.as_str().expect("text")).expect("base64url")
}

/// A device that has one ES256 key and verifies its owner.
pub struct Device {
    key: EcdsaKeyPair,
    random: SystemRandom,
}

impl Default for Device {
    fn default() -> Self {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).expect("a key");
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key.as_ref(), &random).expect("a key");
        Self { key, random }
    }
}

impl Device {
    const ID: [u8; 32] = [9; 32];

    fn authenticator_data(flags: u8) -> Vec<u8> {
        [digest(&SHA256, RP_ID.as_bytes()).as_ref(), &[flags], &[0; 4]].concat()
    }

    fn client_data(kind: &str, challenge: &[u8]) -> Vec<u8> {
        json!({ "type": kind, "challenge": encoded(challenge), "origin": ORIGIN, "crossOrigin": false }).to_string().into_bytes()
    }

    /// The public key in CBOR (COSE, RFC 9053 §7.1.1).
    fn public_key(&self) -> Vec<u8> {
        let (x, y) = self.key.public_key().as_ref()[1..].split_at(32);
        [&[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32][..], x, &[0x22, 0x58, 32], y].concat()
    }

    /// The response to a registration, as JSON.
    pub fn create(&self, challenge: &[u8]) -> Value {
        let credential = [&[0; 16][..], &[0, 32], &Self::ID, &self.public_key()].concat();
        let data = [Self::authenticator_data(0x45), credential].concat();
        let length = u8::try_from(data.len()).expect("a short text");
        let object = [b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58", &[length][..], &data].concat();
        let response = json!({
            "clientDataJSON": encoded(&Self::client_data("webauthn.create", challenge)),
            "attestationObject": encoded(&object),
            "transports": ["internal"],
        });
        Self::credential(response)
    }

    /// The response to a sign-in, as JSON.
    pub fn get(&self, challenge: &[u8]) -> Value {
        let (data, client_data) = (Self::authenticator_data(0x05), Self::client_data("webauthn.get", challenge));
        let signed = [&data[..], digest(&SHA256, &client_data).as_ref()].concat();
        let signature = self.key.sign(&self.random, &signed).expect("a signature");
        let response = json!({
            "clientDataJSON": encoded(&client_data),
            "authenticatorData": encoded(&data),
            "signature": encoded(signature.as_ref()),
            "userHandle": encoded(USER),
        });
        Self::credential(response)
    }

    fn credential(response: Value) -> Value {
        let id = encoded(&Self::ID);
        json!({
            "id": id, "rawId": id, "type": "public-key", "authenticatorAttachment": "platform",
            "clientExtensionResults": {}, "response": response,
        })
    }
}

/// Prints the mean duration of `ceremony`, in microseconds. The result of the ceremony is used, so
/// that the compiler does not remove the work.
pub fn measure<T>(name: &str, mut ceremony: impl FnMut() -> T) {
    let start = Instant::now();
    for _ in 0..TIMES {
        black_box(ceremony());
    }
    println!("{name} {:.1}", start.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES));
}
