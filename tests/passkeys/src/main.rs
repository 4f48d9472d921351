//! Tests passkeys with an independent browser and device, the crate `passkey`. The crate gets the
//! options of the gateway unchanged, and the gateway gets the responses of the crate unchanged.

mod browser;
mod gateway;

use passkey::client::WebauthnError;
use passkey::types::ctap2::Ctap2Error;
use serde_json::{Value, json};

use browser::Browser;
use gateway::Gateway;

const PAGE: &str = "https://app.example.com";

/// A ceremony: the options for the browser, and the code to return.
struct StartedCeremony {
    options: Value,
    code: Value,
}

fn start(gateway: &Gateway, path: &str, token: Option<&str>) -> StartedCeremony {
    let answer = gateway.done("POST", path, "client", token, &json!({ "rp_id": "example.com" }));
    StartedCeremony { options: answer["options_json"].clone(), code: answer["code"].clone() }
}

fn start_registration(gateway: &Gateway, token: &str) -> StartedCeremony {
    start(gateway, "/auth/passkey/initiate-passkey-registration", Some(token))
}

fn start_sign_in(gateway: &Gateway) -> StartedCeremony {
    start(gateway, "/auth/passkey/initiate-passkey-authentication", None)
}

fn register(gateway: &Gateway, token: &str, browser: &mut Browser) {
    let StartedCeremony { options, code } = start_registration(gateway, token);
    let credential = browser.create(PAGE, &options).expect("a passkey");
    gateway.done("POST", "/auth/passkey/register", "client", Some(token), &json!({ "code": code, "credential": credential }));
}

fn sign_in(gateway: &Gateway, code: &Value, response: &Value) -> (u16, Value) {
    gateway.send("POST", "/auth/passkey/sign-in", "client", None, &json!({ "code": code, "authentication_response": response }))
}

/// A passkey works several times and on every page of the project, both with and without user
/// verification.
fn signs_in_on_every_page(gateway: &Gateway) {
    let (token, user) = gateway.sign_up("ada@example.com");
    for is_recognized in [true, false] {
        let mut browser = Browser::new(is_recognized);
        register(gateway, &token, &mut browser);
        for page in [PAGE, "https://www.example.com", PAGE] {
            let StartedCeremony { options, code } = start_sign_in(gateway);
            let response = browser.get(page, &options).expect("a response");
            let (status, answer) = sign_in(gateway, &code, &response);
            assert_eq!((status, &answer["user_id"]), (200, &user), "{page}: {answer}");
        }
    }
}

/// The browser enforces the options that the gateway has set: excluded credentials, the relying
/// party and user verification.
fn heeds_the_options(gateway: &Gateway) {
    let (token, _) = gateway.sign_up("grace@example.com");
    let mut browser = Browser::new(true);
    register(gateway, &token, &mut browser);
    let again = browser.create(PAGE, &start_registration(gateway, &token).options);
    assert_eq!(again, Err(WebauthnError::AuthenticatorError(Ctap2Error::CredentialExcluded.into())));
    let elsewhere = browser.get("https://example.net", &start_sign_in(gateway).options);
    assert_eq!(elsewhere, Err(WebauthnError::OriginRpMissmatch));
    gateway.configure(&json!({ "passkey_user_verification": "required" }));
    let refused = Browser::new(false).create(PAGE, &start_registration(gateway, &token).options);
    assert_eq!(refused, Err(WebauthnError::AuthenticatorError(Ctap2Error::UnsupportedOption.into())));
    register(gateway, &gateway.sign_up("bob@example.com").0, &mut browser);
}

/// A response can be used for one sign-in, and only in the ceremony that it belongs to.
fn responses_are_used_once(gateway: &Gateway) {
    let (token, _) = gateway.sign_up("eve@example.com");
    let mut browser = Browser::new(true);
    register(gateway, &token, &mut browser);
    let (first, second) = (start_sign_in(gateway), start_sign_in(gateway));
    let response = browser.get(PAGE, &first.options).expect("a response");
    let refusal = |(status, answer): (u16, Value)| (status, answer["code"].as_str().unwrap_or_default().to_owned());
    assert_eq!(refusal(sign_in(gateway, &second.code, &response)), (400, "PASSKEY_AUTHENTICATION_FAILED".to_owned()));
    assert_eq!(sign_in(gateway, &first.code, &response).0, 200);
    assert_eq!(refusal(sign_in(gateway, &first.code, &response)), (409, "VERIFICATION_CODE_ALREADY_USED".to_owned()));
}

fn main() {
    let program = std::env::args().nth(1).expect("the path of a gateway");
    let gateway = Gateway::start(&program);
    let domains = json!([{ "domain": "https://**.example.com" }]);
    gateway.configure(&json!({ "passkey_enabled": true, "passkey_rp_ids": ["example.com"], "domains": domains }));
    for (name, check) in [
        ("signs in on every page", signs_in_on_every_page as fn(&Gateway)),
        ("responses are used once", responses_are_used_once),
        ("heeds the options", heeds_the_options),
    ] {
        check(&gateway);
        println!("{name}: ok");
    }
    println!("3 passed, 0 failed");
}
