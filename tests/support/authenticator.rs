//! A software authenticator for passkeys. Tests control every byte of the authenticator's
//! responses.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use p256::ecdsa::signature::Signer as _;
use p256::ecdsa::{Signature, SigningKey};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{Answer, Caller, SignedInUser, TestApp};

const REGISTRATION: &str = "/api/v1/auth/passkey/initiate-passkey-registration";
const AUTHENTICATION: &str = "/api/v1/auth/passkey/initiate-passkey-authentication";

pub const VERIFIED: u8 = 0b101;
/// The flags for user presence without user verification.
pub const PRESENT: u8 = 1;

/// The page where a passkey is created or used.
#[derive(Debug, Clone)]
pub struct Page {
    pub origin: String,
    pub rp_id: String,
}

impl Page {
    pub fn new(origin: &str, rp_id: &str) -> Self {
        Self { origin: origin.to_owned(), rp_id: rp_id.to_owned() }
    }
}

impl Default for Page {
    fn default() -> Self {
        Self::new("http://localhost:3000", "localhost")
    }
}

/// A passkey on a device.
#[derive(Clone)]
pub struct SoftPasskey {
    pub credential_id: Vec<u8>,
    pub user_handle: String,
    pub page: Page,
    /// The flags of the next response. A registration adds the flag for attested credential data.
    pub flags: u8,
    /// The signature count of the next response.
    pub sign_count: u32,
    pub key: Arc<SigningKey>,
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

fn client_data(kind: &str, challenge: &str, origin: &str) -> Vec<u8> {
    json!({ "type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false }).to_string().into_bytes()
}

impl SoftPasskey {
    /// Creates a passkey according to the options. `number` determines the key and the credential
    /// id.
    pub fn create(options: &Value, page: Page, number: u64) -> Self {
        let seed = digest(&SHA256, &number.to_be_bytes());
        Self {
            credential_id: digest(&SHA256, seed.as_ref()).as_ref()[..16].to_vec(),
            user_handle: options["user"]["id"].as_str().unwrap().to_owned(),
            page,
            flags: VERIFIED,
            sign_count: 0,
            key: Arc::new(SigningKey::from_slice(seed.as_ref()).unwrap()),
        }
    }

    fn authenticator_data(&self, flags: u8) -> Vec<u8> {
        let mut data = digest(&SHA256, self.page.rp_id.as_bytes()).as_ref().to_vec();
        data.push(flags);
        data.extend(self.sign_count.to_be_bytes());
        data
    }

    /// The public key as a `COSE_Key` (ES256).
    pub fn cose(&self) -> Vec<u8> {
        let point = self.key.verifying_key().to_sec1_point(false);
        let (x, y) = point.as_bytes()[1..].split_at(32);
        [&[0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32][..], x, &[0x22, 0x58, 32], y].concat()
    }

    /// The response to the options for a registration.
    pub fn registration(&self, options: &Value) -> Value {
        let mut data = self.authenticator_data(self.flags | 0b100_0000);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.credential_id.len()).unwrap().to_be_bytes());
        data.extend(&self.credential_id);
        data.extend(self.cose());
        let length = u16::try_from(data.len()).unwrap().to_be_bytes();
        let mut object = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x59".to_vec();
        object.extend(length);
        object.extend(data);
        let mut credential = self.credential(json!({
            "clientDataJSON": encode(client_data("webauthn.create", options["challenge"].as_str().unwrap(), &self.page.origin)),
            "attestationObject": encode(object),
            "transports": ["internal", "hybrid"],
        }));
        credential["authenticatorAttachment"] = json!("platform");
        credential
    }

    /// Wraps a response in the credential that a browser returns.
    fn credential(&self, response: Value) -> Value {
        let id = encode(&self.credential_id);
        json!({ "id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {} })
    }

    /// The response to the options for a sign-in.
    pub fn assertion(&self, options: &Value) -> Value {
        let client = client_data("webauthn.get", options["challenge"].as_str().unwrap(), &self.page.origin);
        self.signed(&self.authenticator_data(self.flags), &client)
    }

    /// An assertion that contains this authenticator data and client data.
    pub fn signed(&self, data: &[u8], client: &[u8]) -> Value {
        let signature: Signature = self.key.sign(&[data, digest(&SHA256, client).as_ref()].concat());
        self.credential(json!({
            "clientDataJSON": encode(client),
            "authenticatorData": encode(data),
            "signature": encode(signature.to_der().as_bytes()),
            "userHandle": self.user_handle,
        }))
    }
}

/// The options of a ceremony, and the code to send back with the response.
#[derive(Debug, Clone)]
pub struct Ceremony {
    pub options: Value,
    pub code: String,
}

impl Ceremony {
    /// The ceremony that was started by a response.
    pub fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status(), 200, "{}", answer.text());
        let body = answer.json();
        Self { options: body["options_json"].clone(), code: body["code"].as_str().unwrap().to_owned() }
    }
}

impl TestApp {
    pub async fn offer_passkeys(&self) {
        self.configure(json!({ "config": { "passkey_enabled": true } })).await;
    }

    pub async fn start_registration(&self, user: &SignedInUser) -> Ceremony {
        Ceremony::of(&self.signed_in(user).post(REGISTRATION, json!({})).await)
    }

    /// Starts a sign-in with a passkey.
    pub async fn start_authentication(&self) -> Ceremony {
        Ceremony::of(&self.client().post(AUTHENTICATION, json!({})).await)
    }

    /// Starts the use of a passkey as the second factor. `attempt` is the code of the sign-in
    /// attempt.
    pub async fn start_second_factor(&self, attempt: &str) -> Ceremony {
        Ceremony::of(&self.client().post(AUTHENTICATION, json!({ "attempt_code": attempt })).await)
    }

    /// Completes a registration with the response of an authenticator.
    pub async fn register(&self, user: &SignedInUser, code: &str, credential: &Value) -> Answer {
        self.signed_in(user).post("/api/v1/auth/passkey/register", json!({ "code": code, "credential": credential })).await
    }

    /// Registers a passkey whose key is determined by `number`.
    pub async fn add_passkey(&self, user: &SignedInUser, number: u64) -> SoftPasskey {
        self.add_passkey_on(user, number, Page::default()).await
    }

    /// Like [`Self::add_passkey`], but creates the passkey on `page`.
    pub async fn add_passkey_on(&self, user: &SignedInUser, number: u64, page: Page) -> SoftPasskey {
        let Ceremony { options, code } = self.start_registration(user).await;
        let passkey = SoftPasskey::create(&options, page, number);
        let answer = self.register(user, &code, &passkey.registration(&options)).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        passkey
    }

    /// Signs in with the response of an authenticator, called an assertion.
    pub async fn send_assertion(&self, code: &str, response: &Value) -> Answer {
        send_assertion_as(&self.client(), code, response).await
    }

    pub async fn sign_in_with(&self, passkey: &SoftPasskey) -> Answer {
        let Ceremony { options, code } = self.start_authentication().await;
        self.send_assertion(&code, &passkey.assertion(&options)).await
    }
}

/// Signs in as `caller` with the response of an authenticator, called an assertion.
pub async fn send_assertion_as(caller: &Caller, code: &str, response: &Value) -> Answer {
    caller.post("/api/v1/auth/passkey/sign-in", json!({ "code": code, "authentication_response": response })).await
}
