//! `POST /api/v1/auth/passkey/initiate-passkey-authentication`.

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

use super::{assert_error, assert_takes_client_access, problems};

const PATH: &str = "/api/v1/auth/passkey/initiate-passkey-authentication";

#[tokio::test]
async fn a_sign_in_with_a_passkey_starts_with_client_access() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    assert_error(&app.client().post(PATH, json!({})).await, 400, "PASSKEY_AUTHENTICATION_NOT_ENABLED");
}

#[tokio::test]
async fn the_options_of_a_sign_in_name_no_user() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "passkey_enabled": true, "passkey_rp_ids": ["example.com"] } })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.add_passkey(&ada, 1).await;
    let started = app.start_authentication().await;
    let wanted = json!({
        "rpId": "THIS_VALUE_WILL_BE_REPLACED.example.com",
        "challenge": started.options["challenge"],
        "allowCredentials": [],
        "timeout": 60000,
        "userVerification": "preferred",
    });
    assert_eq!(started.options, wanted);
    let own = app.client().post(PATH, json!({ "rp_id": "example.com" })).await.json();
    assert_eq!(own["options_json"]["rpId"], "example.com");
    assert_eq!(
        problems(&app.client().post(PATH, json!({ "rp_id": "com" })).await),
        ["body.rp_id must be one of the project's passkey_rp_ids"]
    );
}

#[tokio::test]
async fn a_challenge_lives_65_seconds_and_in_autofill_ten_minutes() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let passkey = app.add_passkey(&ada, 1).await;
    let of = async |body| {
        let answer = app.client().post(PATH, body).await.json();
        (answer["code"].as_str().unwrap().to_owned(), passkey.assertion(&answer["options_json"]))
    };
    for (body, seconds) in [(json!({ "mediation": "optional" }), 65), (json!({ "mediation": "conditional" }), 600)] {
        let (early, late) = (of(body.clone()).await, of(body).await);
        app.advance(SignedDuration::from_secs(seconds) - SignedDuration::from_millis(1));
        assert_eq!(app.send_assertion(&early.0, &early.1).await.status(), 200);
        app.advance(SignedDuration::from_millis(1));
        assert_error(&app.send_assertion(&late.0, &late.1).await, 400, "VERIFICATION_CODE_EXPIRED");
    }
}
