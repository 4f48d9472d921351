//! The verifier of the crate `webauthn_rp`. The state of the verifier is stored outside, as
//! functions require.

use std::time::Instant;

use serde_json::Value;
use verifiers::{Device, RP_ID, USER, decoded, measure};
use webauthn_rp::bin::{Decode as _, Encode as _};
use webauthn_rp::request::auth::AuthenticationVerificationOptions;
use webauthn_rp::request::register::{RegistrationVerificationOptions, UserHandle64};
use webauthn_rp::request::{AsciiDomain, RpId};
use webauthn_rp::response::register::{CompressedPubKey, DynamicState, StaticState};
use webauthn_rp::{
    AuthenticatedCredential, DiscoverableAuthentication64, DiscoverableAuthenticationServerState, DiscoverableCredentialRequestOptions,
    PublicKeyCredentialCreationOptions, Registration, RegistrationServerState,
};

type Key = CompressedPubKey<[u8; 32], [u8; 32], [u8; 48], Vec<u8>>;

fn register(site: &RpId, created: &str, state: &[u8]) -> (Vec<u8>, DynamicState) {
    let created = Registration::from_json_relaxed(created.as_bytes()).expect("JSON");
    let state = RegistrationServerState::<64>::decode(state).expect("the state");
    let options = RegistrationVerificationOptions::<&str, &str>::default();
    let credential = state.verify(site, &created, &options).expect("a registration");
    (credential.static_state().encode().expect("the key"), credential.dynamic_state())
}

fn sign_in(site: &RpId, got: &str, state: &[u8], (key, last): &(Vec<u8>, DynamicState)) {
    let got = DiscoverableAuthentication64::from_json_relaxed(got.as_bytes()).expect("JSON");
    let state = DiscoverableAuthenticationServerState::decode(state).expect("the state");
    let user = UserHandle64::decode(*USER).expect("the user");
    let key = StaticState::<Key>::decode(key).expect("the key");
    let mut credential = AuthenticatedCredential::new(got.raw_id(), &user, key, *last).expect("the credential");
    let options = AuthenticationVerificationOptions::<&str, &str>::default();
    state.verify(site, &got, &mut credential, &options).expect("a sign-in");
}

fn challenge(options: impl serde::Serialize) -> Vec<u8> {
    let options: Value = serde_json::to_value(options).expect("JSON");
    let inner = if options["publicKey"].is_object() { &options["publicKey"] } else { &options };
    decoded(&inner["challenge"])
}

fn main() {
    let device = Device::default();
    let site = RpId::Domain(AsciiDomain::try_from(RP_ID.to_owned()).expect("a domain"));
    let user = UserHandle64::decode(*USER).expect("the user");
    let options = PublicKeyCredentialCreationOptions::first_passkey_with_blank_user_info(&site, &user);
    let (server, client) = options.start_ceremony().expect("a registration");
    let (registration, created) = (server.encode().expect("the state"), device.create(&challenge(client)).to_string());
    let started = Instant::now();
    let credential = register(&site, &created, &registration);
    let mut first = started.elapsed();
    let (server, client) = DiscoverableCredentialRequestOptions::passkey(&site).start_ceremony().expect("a sign-in");
    let (authentication, got) = (server.encode().expect("the state"), device.get(&challenge(client)).to_string());
    let started = Instant::now();
    sign_in(&site, &got, &authentication, &credential);
    first += started.elapsed();
    println!("first {:.1}", first.as_secs_f64() * 1e6);
    measure("register", || register(&site, &created, &registration));
    measure("sign-in", || sign_in(&site, &got, &authentication, &credential));
}
