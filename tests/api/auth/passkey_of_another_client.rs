//! Passkeys of an authenticator that is not ours: the crate `passkey`, which also does the browser's
//! part of each ceremony. It reads our options as they are, and we read its responses as they are.

use async_trait::async_trait;
use passkey::authenticator::{Authenticator, UiHint, UserCheck, UserValidationMethod};
use passkey::client::{Client, DefaultClientData, WebauthnError};
use passkey::crypto::rust_crypto::RustCryptoBackend;
use passkey::types::Passkey;
use passkey::types::ctap2::{Aaguid, Ctap2Error};
use passkey::types::webauthn::{CredentialCreationOptions, CredentialRequestOptions};
use public_suffix::PublicSuffixList;
use serde_json::{Value, json};
use support::authenticator::Ceremony;
use support::{SignedIn, TestApp};
use url::Url;

use super::assert_error;

/// A user who touches the device, and whom it recognizes if it can.
struct Owner {
    /// Whether the device has a fingerprint reader.
    is_recognized: bool,
}

#[async_trait]
impl UserValidationMethod for Owner {
    type PasskeyItem = Passkey;

    async fn check_user<'a>(&self, hint: UiHint<'a, Passkey>, presence: bool, verification: bool) -> Result<UserCheck, Ctap2Error> {
        if matches!(hint, UiHint::InformExcludedCredentialFound(_)) {
            return Err(Ctap2Error::CredentialExcluded);
        }
        Ok(UserCheck { presence, verification: verification && self.is_recognized })
    }

    fn is_presence_enabled(&self) -> bool {
        true
    }

    fn is_verification_enabled(&self) -> Option<bool> {
        self.is_recognized.then_some(true)
    }
}

struct Browser(Client<Option<Passkey>, Owner, RustCryptoBackend, PublicSuffixList, ()>);

impl Browser {
    fn new(is_recognized: bool) -> Self {
        let mut authenticator = Authenticator::new(Aaguid::new_empty(), None, Owner { is_recognized }, RustCryptoBackend);
        authenticator.set_make_credentials_with_signature_counter(true);
        Self(Client::new(authenticator).allows_insecure_localhost(true).user_verification_when_preferred(is_recognized))
    }

    async fn create(&mut self, page: &str, ceremony: &Ceremony) -> Result<Value, WebauthnError> {
        let public_key = serde_json::from_value(ceremony.options.clone()).expect("options of a registration");
        let created = self.0.register(&Url::parse(page).unwrap(), CredentialCreationOptions { public_key }, DefaultClientData).await?;
        Ok(serde_json::to_value(created).unwrap())
    }

    async fn get(&mut self, page: &str, ceremony: &Ceremony) -> Result<Value, WebauthnError> {
        let public_key = serde_json::from_value(ceremony.options.clone()).expect("options of a sign-in");
        let found = self.0.authenticate(&Url::parse(page).unwrap(), CredentialRequestOptions { public_key }, DefaultClientData).await?;
        Ok(serde_json::to_value(found).unwrap())
    }
}

const PAGE: &str = "https://app.example.com";

async fn start_registration(app: &TestApp, user: &SignedIn) -> Ceremony {
    let path = "/api/v1/auth/passkey/initiate-passkey-registration";
    Ceremony::of(&app.signed_in(user).post(path, json!({ "rp_id": "example.com" })).await)
}

async fn start_authentication(app: &TestApp) -> Ceremony {
    let path = "/api/v1/auth/passkey/initiate-passkey-authentication";
    Ceremony::of(&app.client().post(path, json!({ "rp_id": "example.com" })).await)
}

async fn app() -> (TestApp, SignedIn) {
    let app = TestApp::start().await;
    let domains = json!([{ "domain": "https://**.example.com" }]);
    app.configure(json!({ "config": { "passkey_enabled": true, "passkey_rp_ids": ["example.com"], "domains": domains } })).await;
    let ada = app.sign_up("ada@example.com").await;
    (app, ada)
}

/// Registers a passkey of this browser.
async fn register(app: &TestApp, user: &SignedIn, browser: &mut Browser) {
    let started = start_registration(app, user).await;
    let credential = browser.create(PAGE, &started).await.unwrap();
    let answer = app.register(user, &started.code, &credential).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

#[tokio::test]
async fn a_passkey_of_another_client_signs_in_on_every_page_of_the_project() {
    let (app, ada) = app().await;
    for is_recognized in [true, false] {
        let mut browser = Browser::new(is_recognized);
        register(&app, &ada, &mut browser).await;
        for page in [PAGE, "https://www.example.com", PAGE] {
            let started = start_authentication(&app).await;
            let response = browser.get(page, &started).await.unwrap();
            let answer = app.send_assertion(&started.code, &response).await;
            assert_eq!((answer.status(), &answer.json()["user_id"]), (200, &json!(ada.user_id)), "{}", answer.text());
        }
    }
}

#[tokio::test]
async fn another_client_heeds_our_options() {
    let (app, ada) = app().await;
    let mut browser = Browser::new(true);
    register(&app, &ada, &mut browser).await;
    // The device has a passkey of this user already.
    let again = browser.create(PAGE, &start_registration(&app, &ada).await).await;
    assert_eq!(again, Err(WebauthnError::AuthenticatorError(Ctap2Error::CredentialExcluded.into())));
    // The page belongs to another site than the passkey.
    let elsewhere = browser.get("https://example.net", &start_authentication(&app).await).await;
    assert_eq!(elsewhere, Err(WebauthnError::OriginRpMissmatch));
    // Without a fingerprint reader there is no passkey where the project requires verification.
    app.configure(json!({ "config": { "passkey_user_verification": "required" } })).await;
    let refused = Browser::new(false).create(PAGE, &start_registration(&app, &ada).await).await;
    assert_eq!(refused, Err(WebauthnError::AuthenticatorError(Ctap2Error::UnsupportedOption.into())));
    let bob = app.sign_up("bob@example.com").await;
    register(&app, &bob, &mut browser).await;
}

#[tokio::test]
async fn a_response_of_another_client_is_good_for_one_sign_in() {
    let (app, ada) = app().await;
    let mut browser = Browser::new(true);
    register(&app, &ada, &mut browser).await;
    let (first, second) = (start_authentication(&app).await, start_authentication(&app).await);
    let response = browser.get(PAGE, &first).await.unwrap();
    assert_error(&app.send_assertion(&second.code, &response).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_eq!(app.send_assertion(&first.code, &response).await.status(), 200);
    assert_error(&app.send_assertion(&first.code, &response).await, 409, "VERIFICATION_CODE_ALREADY_USED");
}
