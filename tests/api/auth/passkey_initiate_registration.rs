//! `POST /api/v1/auth/passkey/initiate-passkey-registration`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;
use support::authenticator::{Ceremony, Page, SoftPasskey};

use super::{assert_error, assert_takes_client_access, problems};

const PATH: &str = "/api/v1/auth/passkey/initiate-passkey-registration";

#[tokio::test]
async fn registration_requires_client_access() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    app.offer_passkeys().await;
    assert_error(&app.client().post(PATH, json!({})).await, 401, "USER_AUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn the_options_are_those_of_the_published_sdk() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let first = app.start_registration(&ada).await;
    let challenge = first.options["challenge"].as_str().unwrap();
    assert_eq!(URL_SAFE_NO_PAD.decode(challenge).unwrap().len(), 32);
    assert_eq!(first.code.len(), 45);
    let project = app.client().get("/api/v1/projects/current").await.json();
    let wanted = json!({
        "rp": { "name": project["display_name"], "id": "THIS_VALUE_WILL_BE_REPLACED.example.com" },
        "user": { "id": URL_SAFE_NO_PAD.encode(&ada.user_id), "name": "ada@example.com", "displayName": "ada@example.com" },
        "challenge": challenge,
        "pubKeyCredParams": [{ "alg": -8, "type": "public-key" }, { "alg": -7, "type": "public-key" }, { "alg": -257, "type": "public-key" }],
        "timeout": 60000,
        "excludeCredentials": [],
        "authenticatorSelection": { "residentKey": "required", "requireResidentKey": true, "userVerification": "preferred" },
        "attestation": "none",
        "extensions": { "credProps": true },
    });
    assert_eq!(first.options, wanted);

    let without_body = app.signed_in(&ada).request("POST", PATH).send().await;
    assert_eq!(without_body.status(), 200, "{}", without_body.text());
    let second = app.start_registration(&ada).await;
    assert!(second.code != first.code && second.options["challenge"] != first.options["challenge"]);
}

#[tokio::test]
async fn the_user_s_own_passkeys_are_excluded() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let passkey = app.add_passkey(&ada, 1).await;
    let excluded =
        json!([{ "type": "public-key", "id": URL_SAFE_NO_PAD.encode(&passkey.credential_id), "transports": ["internal", "hybrid"] }]);
    assert_eq!(app.start_registration(&ada).await.options["excludeCredentials"], excluded);
    assert_eq!(app.start_registration(&bob).await.options["excludeCredentials"], json!([]));
}

#[tokio::test]
async fn settings_decide_on_passkeys_verification_and_relying_party() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let start = async |body| app.signed_in(&ada).post(PATH, body).await;
    assert_error(&start(json!({})).await, 400, "PASSKEY_AUTHENTICATION_NOT_ENABLED");
    app.configure(json!({ "config": {
        "passkey_enabled": true, "passkey_user_verification": "required", "passkey_rp_ids": ["Example.com"],
    } }))
    .await;
    let options = start(json!({ "rp_id": "example.com" })).await.json()["options_json"].clone();
    assert_eq!(options["rp"]["id"], "example.com");
    assert_eq!(options["authenticatorSelection"]["userVerification"], "required");
    for foreign in ["evil.example", "com", "app.example.com", ""] {
        let found = problems(&start(json!({ "rp_id": foreign })).await);
        assert_eq!(found, ["body.rp_id must be one of the project's passkey_rp_ids"], "{foreign}");
    }
}

#[tokio::test]
async fn registration_needs_a_fresh_sign_in_if_the_project_asks() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "passkey_enabled": true, "reauthentication_max_age_seconds": 300 } })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.start_registration(&ada).await;
    app.advance(jiff::SignedDuration::from_secs(301));
    assert_error(&app.signed_in(&ada).post(PATH, json!({})).await, 403, "REAUTHENTICATION_REQUIRED");
}

/// Without this rule, a session that must not remove the app could add a passkey, and then remove
/// the app in a session started with the passkey.
#[tokio::test]
async fn beside_an_app_a_passkey_needs_as_recent_a_proof_as_removing_the_app() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": 3600 } })).await;
    app.advance(SignedDuration::from_secs(301));
    let Ceremony { options, code } = app.start_registration(&ada).await;
    let credential = SoftPasskey::create(&options, Page::default(), 1).registration(&options);
    let app_secret = json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" });
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", app_secret).await.status(), 200);
    assert_error(&app.signed_in(&ada).post(PATH, json!({})).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_error(&app.register(&ada, &code, &credential).await, 403, "REAUTHENTICATION_REQUIRED");
    app.advance(SignedDuration::from_secs(1));
    let proof = json!({ "password": "correct horse battery" });
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/sessions/current/reauthenticate", proof).await.status(), 200);
    assert_eq!(app.register(&ada, &code, &credential).await.status(), 200);
}
