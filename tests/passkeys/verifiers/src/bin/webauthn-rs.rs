//! The verifier of the crate `webauthn-rs-core`.

use std::time::{Duration, Instant};

use url::Url;
use verifiers::{Device, ORIGIN, RP_ID, USER, measure};
use webauthn_rs_core::WebauthnCore;
use webauthn_rs_core::proto::{AuthenticationState, Credential, RegistrationState};

fn register(site: &WebauthnCore, created: &str, state: &RegistrationState) -> Credential {
    let created = serde_json::from_str(created).expect("JSON");
    site.register_credential(&created, state, None).expect("a registration")
}

fn sign_in(site: &WebauthnCore, got: &str, state: &AuthenticationState) {
    let got = serde_json::from_str(got).expect("JSON");
    site.authenticate_credential(&got, state).expect("a sign-in");
}

fn main() {
    let device = Device::default();
    let origins = vec![Url::parse(ORIGIN).expect("a URL")];
    let site = WebauthnCore::new_unsafe_experts_only("Site", RP_ID, origins, Duration::from_secs(60), None, None);
    let builder = site.new_challenge_register_builder(USER, "ada", "Ada").expect("a registration");
    let (options, registration) = site.generate_challenge_register(builder).expect("a registration");
    let created = device.create(options.public_key.challenge.as_ref()).to_string();
    let started = Instant::now();
    let credential = register(&site, &created, &registration);
    let mut first = started.elapsed();
    let builder = site.new_challenge_authenticate_builder(vec![credential], None).expect("a sign-in");
    let (options, authentication) = site.generate_challenge_authenticate(builder).expect("a sign-in");
    let got = device.get(options.public_key.challenge.as_ref()).to_string();
    let started = Instant::now();
    sign_in(&site, &got, &authentication);
    first += started.elapsed();
    println!("first {:.1}", first.as_secs_f64() * 1e6);
    measure("register", || register(&site, &created, &registration));
    measure("sign-in", || sign_in(&site, &got, &authentication));
}
