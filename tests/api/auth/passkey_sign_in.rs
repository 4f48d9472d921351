//! `POST /api/v1/auth/passkey/sign-in`.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};
use support::authenticator::{PRESENT, Page, SoftPasskey};
use support::{SignedInUser, TestApp};

use super::mfa_sign_in::{now_code, sign_in as mfa_sign_in, user_with_app};
use super::{assert_error, assert_takes_client_access};

const PATH: &str = "/api/v1/auth/passkey/sign-in";
const ME: &str = "/api/v1/users/me";

async fn app_and_passkey() -> (TestApp, SignedInUser, SoftPasskey) {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    let passkey = app.add_passkey(&ada, 1).await;
    app.advance(SignedDuration::from_secs(1));
    (app, ada, passkey)
}

async fn sessions(app: &TestApp, user: &SignedInUser) -> usize {
    app.signed_in(user).get("/api/v1/auth/sessions").await.json()["items"].as_array().unwrap().len()
}

/// The user's newest entry in the audit log.
async fn last_events(app: &TestApp, user: &SignedInUser) -> Value {
    let path = format!("/api/v1/internal/audit-log?user_id={}", user.user_id);
    app.admin().get(&path).await.json()["items"][0].clone()
}

#[tokio::test]
async fn a_passkey_signs_in_once_per_challenge() {
    let (app, ada, passkey) = app_and_passkey().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    let started = app.start_authentication().await;
    let response = passkey.assertion(&started.options);
    let answer = app.send_assertion(&started.code, &response).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let body = answer.json();
    assert_eq!((&body["user_id"], &body["is_new_user"]), (&json!(ada.user_id), &json!(false)));
    assert_eq!(app.signed_in(&SignedInUser::of("ada@example.com", &body)).get(ME).await.status(), 200);
    let entry = last_events(&app, &ada).await;
    assert_eq!((&entry["events"], &entry["method"]), (&json!(["sign-in"]), &json!(["pop"])));
    assert_error(&app.send_assertion(&started.code, &response).await, 409, "VERIFICATION_CODE_ALREADY_USED");
    let other = app.start_authentication().await;
    assert_error(&app.send_assertion(&other.code, &response).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_error(&app.send_assertion(&"0".repeat(45), &response).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&app.send_assertion(&app.start_registration(&ada).await.code, &response).await, 404, "VERIFICATION_CODE_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_replays_of_a_response_give_one_session() {
    let (app, ada, mut passkey) = app_and_passkey().await;
    let before = sessions(&app, &ada).await;
    // If there is a signature counter, a replay also looks like a copy of the authenticator.
    passkey.sign_count = 7;
    let started = app.start_authentication().await;
    let response = passkey.assertion(&started.options);
    let answers = join_all((0..1000).map(|_| app.send_assertion(&started.code, &response))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    for refused in answers.iter().filter(|answer| answer.status() != 200) {
        let is_expected = refused.code() == "VERIFICATION_CODE_ALREADY_USED" || refused.code() == "SERVICE_UNAVAILABLE";
        assert!(is_expected, "{}", refused.text());
    }
    assert_eq!(sessions(&app, &ada).await, before + 1);
    let items = app.signed_in(&ada).get("/api/v1/passkeys?user_id=me").await.json();
    assert_eq!(items["items"][0]["clone_suspected"], false, "a replay is not reported as a copy of the passkey");
}

#[tokio::test]
async fn every_changed_byte_of_a_response_is_refused() {
    let (app, _, passkey) = app_and_passkey().await;
    let started = app.start_authentication().await;
    let response = passkey.assertion(&started.options);
    for part in ["clientDataJSON", "authenticatorData", "signature", "userHandle"] {
        let bytes = URL_SAFE_NO_PAD.decode(response["response"][part].as_str().unwrap()).unwrap();
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let mut forged = response.clone();
            forged["response"][part] = json!(URL_SAFE_NO_PAD.encode(changed));
            assert_error(&app.send_assertion(&started.code, &forged).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
        }
    }
    assert_eq!(app.send_assertion(&started.code, &response).await.status(), 200);
}

#[tokio::test]
async fn malformed_and_foreign_responses_are_refused() {
    let (app, ada, passkey) = app_and_passkey().await;
    let bob = app.sign_up("bob@example.com").await;
    let others = app.add_passkey(&bob, 2).await;
    let started = app.start_authentication().await;
    let good = passkey.assertion(&started.options);
    let on = |page: Page| SoftPasskey { page, ..passkey.clone() }.assertion(&started.options);
    let flagged = |flags: u8| SoftPasskey { flags, ..passkey.clone() }.assertion(&started.options);
    let mut without_handle = good.clone();
    without_handle["response"].as_object_mut().unwrap().remove("userHandle");
    let framed = json!({ "type": "webauthn.get", "challenge": started.options["challenge"], "origin": "http://localhost:3000", "crossOrigin": true });
    let data = URL_SAFE_NO_PAD.decode(good["response"]["authenticatorData"].as_str().unwrap()).unwrap();
    for response in [
        json!(null),
        json!(1),
        json!({}),
        json!({ "response": [] }),
        without_handle,
        on(Page::new("https://evil.example", "localhost")),
        on(Page::new("http://app.localhost:3000", "app.localhost")),
        on(Page::new("http://localhost:3000", "evil.example")),
        flagged(0),
        flagged(0b1_0101),
        SoftPasskey { credential_id: vec![1, 2, 3], ..passkey.clone() }.assertion(&started.options),
        SoftPasskey { user_handle: others.user_handle.clone(), ..passkey.clone() }.assertion(&started.options),
        SoftPasskey { user_handle: passkey.user_handle.clone(), ..others.clone() }.assertion(&started.options),
        passkey.signed(&data, framed.to_string().as_bytes()),
        passkey.registration(&started.options),
    ] {
        let refused = app.send_assertion(&started.code, &response).await;
        let details = assert_error(&refused, 400, "PASSKEY_AUTHENTICATION_FAILED");
        assert!(details["message"].is_string(), "{response}");
    }
    assert_eq!(app.send_assertion(&started.code, &good).await.json()["user_id"], ada.user_id);
}

#[tokio::test]
async fn a_passkey_of_one_project_is_unknown_in_another() {
    let (app, _, passkey) = app_and_passkey().await;
    let other = app.another_project().await;
    let admin = app.admin().with("x-stack-project-id", other.project_id.as_str());
    let admin = admin.with("x-stack-super-secret-admin-key", secrecy::ExposeSecret::expose_secret(&other.admin));
    assert_eq!(admin.patch("/api/v1/internal/projects/current", json!({ "config": { "passkey_enabled": true } })).await.status(), 200);
    let started = app.client_of(&other).post("/api/v1/auth/passkey/initiate-passkey-authentication", json!({})).await.json();
    let body = json!({ "code": started["code"], "authentication_response": passkey.assertion(&started["options_json"]) });
    assert_error(&app.client_of(&other).post(PATH, body.clone()).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_error(&app.client().post(PATH, body).await, 404, "VERIFICATION_CODE_NOT_FOUND");
}

#[tokio::test]
async fn a_count_that_does_not_grow_is_refused_and_reported_once() {
    let (app, ada, mut passkey) = app_and_passkey().await;
    passkey.sign_count = 5;
    assert_eq!(app.sign_in_with(&passkey).await.status(), 200);
    let mails = app.mails("ada@example.com").await.len();
    for count in [5, 4, 0] {
        passkey.sign_count = count;
        let details = assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
        assert_eq!(
            details["message"],
            "the signature counter of the passkey did not increase, so the passkey may have been copied: remove it"
        );
    }
    let items = app.signed_in(&ada).get("/api/v1/passkeys?user_id=me").await.json();
    assert_eq!(items["items"][0]["clone_suspected"], true);
    let told = app.mails("ada@example.com").await;
    assert_eq!(told.len(), mails + 1);
    assert!(told[0].0.text.contains("seems to be a copy"), "{}", told[0].0.text);
    let path = format!("/api/v1/internal/audit-log?user_id={}", ada.user_id);
    let entries = app.admin().get(&path).await.json();
    let events: Vec<&Value> = entries["items"].as_array().unwrap().iter().map(|entry| &entry["events"]).collect();
    assert_eq!(events.iter().filter(|events| ***events == json!(["passkey-clone-suspected"])).count(), 1, "{events:?}");
    passkey.sign_count = 6;
    assert_eq!(app.sign_in_with(&passkey).await.status(), 200, "the authenticator with the higher count still works");
}

#[tokio::test]
async fn a_second_factor_is_asked_unless_a_verified_passkey_replaces_it() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = user_with_app(&app, "ada@example.com").await;
    let mut passkey = app.add_passkey(&ada, 1).await;
    let details = assert_error(&app.sign_in_with(&passkey).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    let answer = mfa_sign_in(&app, details["attempt_code"].as_str().unwrap(), &now_code(&app)).await;
    assert_eq!(answer.json()["user_id"], ada.user_id);

    app.configure(json!({ "config": { "passkey_replaces_second_factor": true } })).await;
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(app.sign_in_with(&passkey).await.status(), 200);
    assert_eq!(last_events(&app, &ada).await["method"], json!(["pop", "mfa"]));
    passkey.flags = PRESENT;
    assert_error(&app.sign_in_with(&passkey).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
}

#[tokio::test]
async fn a_required_verification_is_checked() {
    let (app, _, mut passkey) = app_and_passkey().await;
    passkey.flags = PRESENT;
    assert_eq!(app.sign_in_with(&passkey).await.status(), 200);
    app.configure(json!({ "config": { "passkey_user_verification": "required" } })).await;
    assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn switched_off_passkeys_are_kept_and_unusable() {
    let (app, ada, passkey) = app_and_passkey().await;
    let started = app.start_authentication().await;
    app.configure(json!({ "config": { "passkey_enabled": false } })).await;
    let response = passkey.assertion(&started.options);
    assert_error(&app.send_assertion(&started.code, &response).await, 400, "PASSKEY_AUTHENTICATION_NOT_ENABLED");
    assert_eq!(app.signed_in(&ada).get(ME).await.json()["passkey_auth_enabled"], true);
    app.offer_passkeys().await;
    assert_eq!(app.send_assertion(&started.code, &response).await.status(), 200);
}

#[tokio::test]
async fn a_passkey_of_a_parent_domain_works_on_its_hosts() {
    let app = TestApp::start().await;
    let domains: Vec<Value> = ["https://**.example.com", "https://example.de"].iter().map(|domain| json!({ "domain": domain })).collect();
    let config = |ids: Value| json!({ "config": { "passkey_enabled": true, "passkey_rp_ids": ids, "domains": domains } });
    app.configure(config(json!(["example.com"]))).await;
    let ada = app.sign_up("ada@example.com").await;
    let mut passkey = app.add_passkey_on(&ada, 1, Page::new("https://app.example.com", "example.com")).await;
    for origin in ["https://www.example.com", "https://a.b.example.com", "https://example.de"] {
        passkey.page.origin = origin.to_owned();
        assert_eq!(app.sign_in_with(&passkey).await.status(), 200, "{origin}");
    }
    for origin in ["https://example.com", "https://www.example.com:8443", "https://example.de.evil.example"] {
        passkey.page.origin = origin.to_owned();
        assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    }
    // If `passkey_rp_ids` does not contain the parent domain, the passkey no longer works on the
    // domain's hosts.
    app.configure(config(json!([]))).await;
    passkey.page.origin = "https://www.example.com".to_owned();
    assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
}

#[tokio::test]
async fn restricted_users_sign_in_and_deleted_ones_do_not() {
    let (app, ada, passkey) = app_and_passkey().await;
    let path = format!("/api/v1/users/{}", ada.user_id);
    app.server().patch(&path, json!({ "restricted_by_admin": true })).await;
    let answer = app.sign_in_with(&passkey).await.json();
    let me = app.signed_in(&SignedInUser::of("", &answer)).with("x-stack-allow-restricted-user", "true").get(ME).await;
    assert_eq!(me.json()["is_restricted"], true);
    assert_eq!(app.server().delete(&path).await.status(), 200);
    assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    let left: Vec<_> = app.table().into_keys().filter(|(pk, _)| pk.starts_with("K#")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn a_passkey_reauthenticates_its_user_only() {
    let (app, ada, passkey) = app_and_passkey().await;
    let bob = app.sign_up("bob@example.com").await;
    let send = async |user: &SignedInUser, passkey: &SoftPasskey| {
        let started = app.start_authentication().await;
        let given = json!({ "code": started.code, "authentication_response": passkey.assertion(&started.options) });
        app.signed_in(user).post("/api/v1/auth/sessions/current/reauthenticate", json!({ "passkey": given })).await
    };
    // The session does not accept a credential as a proof if the credential was added after the
    // session's last proof.
    assert_error(&send(&ada, &passkey).await, 403, "REAUTHENTICATION_REQUIRED");
    let again = SignedInUser::of("ada@example.com", &app.sign_in_with(&passkey).await.json());
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": 300 } })).await;
    app.advance(SignedDuration::from_secs(301));
    let secret = json!({ "totp_secret_base64": STANDARD.encode(b"a secret of an app") });
    assert_error(&app.signed_in(&again).patch(ME, secret.clone()).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_error(&send(&bob, &passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_eq!(send(&again, &passkey).await.status(), 200);
    assert_eq!(app.signed_in(&again).patch(ME, secret).await.status(), 200);
}
