//! The verifier of `shared/crypto`.

use std::time::Instant;

use crypto::webauthn::authenticator_data::{AuthenticatorData, from_attestation_object, verify};
use crypto::webauthn::client_data::{Ceremony, ClientData};
use crypto::webauthn::public_key::PublicKey;
use serde_json::Value;
use verifiers::{Device, ORIGIN, RP_ID, decoded, measure};

fn register(created: &str, challenge: &[u8]) -> PublicKey {
    let created: Value = serde_json::from_str(created).expect("JSON");
    let response = &created["response"];
    let client_data = ClientData::read(&decoded(&response["clientDataJSON"]), Ceremony::Registration, challenge).expect("client data");
    assert_eq!(client_data.origin, ORIGIN);
    let data = from_attestation_object(&decoded(&response["attestationObject"])).expect("an attestation object");
    data.relying_party(&[RP_ID]).expect("the relying party");
    data.check_flags(true).expect("flags");
    data.credential.expect("a credential").public_key
}

fn sign_in(got: &str, challenge: &[u8], key: &PublicKey) {
    let got: Value = serde_json::from_str(got).expect("JSON");
    let response = &got["response"];
    let (client_data, bytes) = (decoded(&response["clientDataJSON"]), decoded(&response["authenticatorData"]));
    assert_eq!(ClientData::read(&client_data, Ceremony::Authentication, challenge).expect("client data").origin, ORIGIN);
    let data = AuthenticatorData::read(&bytes).expect("authenticator data");
    data.relying_party(&[RP_ID]).expect("the relying party");
    data.check_flags(true).expect("flags");
    verify(key, &bytes, &client_data, &decoded(&response["signature"])).expect("the signature");
}

fn main() {
    let device = Device::default();
    let challenge = [3; 32];
    let (created, got) = (device.create(&challenge).to_string(), device.get(&challenge).to_string());
    let started = Instant::now();
    let key = register(&created, &challenge);
    sign_in(&got, &challenge, &key);
    println!("first {:.1}", started.elapsed().as_secs_f64() * 1e6);
    measure("register", || register(&created, &challenge));
    measure("sign-in", || sign_in(&got, &challenge, &key));
}
