//! `POST /api/v1/auth/passkey/register`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};
use support::authenticator::{Page, SoftPasskey};
use support::{SignedInUser, TestApp};

use super::{assert_error, assert_takes_client_access};

const PATH: &str = "/api/v1/auth/passkey/register";
const ME: &str = "/api/v1/users/me";

async fn app_and_ada() -> (TestApp, SignedInUser) {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    (app, ada)
}

async fn has_passkey(app: &TestApp, user: &SignedInUser) -> Value {
    app.signed_in(user).get(ME).await.json()["passkey_auth_enabled"].clone()
}

#[tokio::test]
async fn registering_requires_a_signed_in_user() {
    let (app, ada) = app_and_ada().await;
    assert_takes_client_access(&app, "POST", PATH).await;
    let started = app.start_registration(&ada).await;
    let credential = SoftPasskey::create(&started.options, Page::default(), 1).registration(&started.options);
    let body = json!({ "code": started.code, "credential": credential });
    assert_error(&app.client().post(PATH, body).await, 401, "USER_AUTHENTICATION_REQUIRED");
    assert_eq!(app.register(&ada, &started.code, &credential).await.status(), 200, "the challenge was not used up");
}

#[tokio::test]
async fn a_registered_passkey_signs_in() {
    let (app, ada) = app_and_ada().await;
    assert_eq!(has_passkey(&app, &ada).await, false);
    let started = app.start_registration(&ada).await;
    let passkey = SoftPasskey::create(&started.options, Page::default(), 1);
    let answer = app.register(&ada, &started.code, &passkey.registration(&started.options)).await;
    assert_eq!((answer.status(), &answer.json()["user_handle"]), (200, &json!(URL_SAFE_NO_PAD.encode(&passkey.credential_id))));
    assert_eq!(has_passkey(&app, &ada).await, true);
    assert_eq!(app.sign_in_with(&passkey).await.json()["user_id"], ada.user_id);
    let again = app.register(&ada, &started.code, &passkey.registration(&started.options)).await;
    assert_error(&again, 409, "VERIFICATION_CODE_ALREADY_USED");
}

#[tokio::test]
async fn a_challenge_of_one_user_is_useless_to_another() {
    let (app, ada) = app_and_ada().await;
    let eve = app.sign_up("eve@example.com").await;
    let started = app.start_registration(&ada).await;
    let credential = SoftPasskey::create(&started.options, Page::default(), 1).registration(&started.options);
    assert_error(&app.register(&eve, &started.code, &credential).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&app.register(&ada, &app.start_authentication().await.code, &credential).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    // A new credential epoch of the user invalidates the registration.
    let password = json!({ "old_password": "correct horse battery", "new_password": "another horse battery" });
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/password/update", password).await.status(), 200);
    assert_error(&app.register(&ada, &started.code, &credential).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(has_passkey(&app, &eve).await, false);
}

#[tokio::test]
async fn a_registration_expires_after_65_seconds() {
    let (app, ada) = app_and_ada().await;
    let started = app.start_registration(&ada).await;
    let credential = SoftPasskey::create(&started.options, Page::default(), 1).registration(&started.options);
    app.advance(SignedDuration::from_secs(65));
    assert_error(&app.register(&ada, &started.code, &credential).await, 400, "VERIFICATION_CODE_EXPIRED");
}

#[tokio::test]
async fn a_credential_belongs_to_one_user_of_a_project() {
    let (app, ada) = app_and_ada().await;
    let bob = app.sign_up("bob@example.com").await;
    app.add_passkey(&ada, 1).await;
    for user in [&ada, &bob] {
        let started = app.start_registration(user).await;
        let same = SoftPasskey::create(&started.options, Page::default(), 1);
        let refused = app.register(user, &started.code, &same.registration(&started.options)).await;
        let details = assert_error(&refused, 400, "PASSKEY_REGISTRATION_FAILED");
        assert_eq!(details["message"], "this passkey is already registered");
    }
    let passkeys = app.signed_in(&ada).get("/api/v1/passkeys?user_id=me").await.json();
    let path = format!("/api/v1/passkeys/me/{}", passkeys["items"][0]["id"].as_str().unwrap());
    assert_eq!(app.signed_in(&ada).delete(&path).await.status(), 200);
    app.add_passkey(&bob, 1).await;
}

#[tokio::test]
async fn whatever_an_authenticator_cannot_have_sent_is_refused() {
    let (app, ada) = app_and_ada().await;
    let started = app.start_registration(&ada).await;
    let passkey = SoftPasskey::create(&started.options, Page::default(), 1);
    let good = passkey.registration(&started.options);
    let object = URL_SAFE_NO_PAD.decode(good["response"]["attestationObject"].as_str().unwrap()).unwrap();
    let with = |pointer: &str, value: Value| {
        let mut changed = good.clone();
        *changed.pointer_mut(pointer).unwrap() = value;
        changed
    };
    let of_object = |bytes: &[u8]| with("/response/attestationObject", json!(URL_SAFE_NO_PAD.encode(bytes)));
    let on = |page: Page| SoftPasskey { page, ..passkey.clone() }.registration(&started.options);
    let flagged = |flags: u8| SoftPasskey { flags, ..passkey.clone() }.registration(&started.options);
    let mut bad = vec![
        json!(null),
        json!([]),
        json!("x"),
        json!({}),
        json!({ "response": 1 }),
        with("/id", json!("AAAA")),
        with("/rawId", json!(7)),
        with("/type", json!("password")),
        with("/response/clientDataJSON", json!("!")),
        with("/response/clientDataJSON", json!("")),
        on(Page::new("https://evil.example", "localhost")),
        on(Page::new("http://localhost.evil.example", "localhost")),
        on(Page::new("http://localhost:3000/", "localhost")),
        on(Page::new("android:apk-key-hash:abc", "localhost")),
        on(Page::new("http://localhost:3000", "example.com")),
        on(Page::new("http://app.localhost:3000", "localhost")),
        flagged(0),
        flagged(0b1_0101),
        passkey.assertion(&started.options),
        of_object(&[]),
        of_object(&object[..object.len() - 1]),
        of_object(&[&object[..], &[0]].concat()),
        of_object(&[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
        of_object(&[0x81; 4000]),
    ];
    // The key with a wrong type, algorithm or curve, and with a point off the curve.
    let key = object.windows(7).position(|window| window == [0xa5, 1, 2, 3, 0x26, 0x20, 1]).unwrap();
    for (at, byte) in [(key + 2, 3), (key + 4, 0x27), (key + 6, 2), (key + 10, 0)] {
        let mut changed = object.clone();
        changed[at] = byte;
        bad.push(of_object(&changed));
    }
    for credential in bad {
        let refused = app.register(&ada, &started.code, &credential).await;
        let details = assert_error(&refused, 400, "PASSKEY_REGISTRATION_FAILED");
        assert!(details["message"].as_str().is_some_and(|message| !message.is_empty()), "{credential}");
    }
    assert_eq!(has_passkey(&app, &ada).await, false);
    assert_eq!(app.register(&ada, &started.code, &good).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_registrations_the_twenty_first_is_refused() {
    let (app, ada) = app_and_ada().await;
    for number in 0..18 {
        app.add_passkey(&ada, number).await;
    }
    let starts = join_all((18..22).map(async |number| (number, app.start_registration(&ada).await))).await;
    let sends = starts.iter().map(async |(number, started)| {
        let passkey = SoftPasskey::create(&started.options, Page::default(), *number);
        app.register(&ada, &started.code, &passkey.registration(&started.options)).await
    });
    let answers = join_all(sends).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 2);
    for refused in answers.iter().filter(|answer| answer.status() != 200) {
        assert_eq!(assert_error(refused, 400, "TOO_MANY_PASSKEYS"), json!({ "limit": 20 }));
    }
    let items = app.signed_in(&ada).get("/api/v1/passkeys?user_id=me").await.json()["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_responses_to_a_challenge_one_registers() {
    let (app, ada) = app_and_ada().await;
    let started = app.start_registration(&ada).await;
    let sends = (0..8).map(|number| {
        let credential = SoftPasskey::create(&started.options, Page::default(), number).registration(&started.options);
        let (app, ada, code) = (&app, &ada, &started.code);
        async move { app.register(ada, code, &credential).await }
    });
    let answers = join_all(sends).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    for refused in answers.iter().filter(|answer| answer.status() != 200) {
        assert_error(refused, 409, "VERIFICATION_CODE_ALREADY_USED");
    }
}

#[tokio::test]
async fn verification_is_required_if_the_project_requires_it() {
    let (app, ada) = app_and_ada().await;
    app.configure(json!({ "config": { "passkey_user_verification": "required" } })).await;
    let started = app.start_registration(&ada).await;
    let mut passkey = SoftPasskey::create(&started.options, Page::default(), 1);
    passkey.flags = support::authenticator::PRESENT;
    let refused = app.register(&ada, &started.code, &passkey.registration(&started.options)).await;
    assert_error(&refused, 400, "PASSKEY_REGISTRATION_FAILED");
    passkey.flags = support::authenticator::VERIFIED;
    assert_eq!(app.register(&ada, &started.code, &passkey.registration(&started.options)).await.status(), 200);
}

#[tokio::test]
async fn anonymous_users_return_by_passkey_and_stay_anonymous() {
    let (app, _) = app_and_ada().await;
    app.configure(json!({ "config": { "anonymous_creation_enabled": true } })).await;
    let answer = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let visitor = SignedInUser::of("", &answer);
    let caller = || app.signed_in(&visitor).with("x-stack-allow-anonymous-user", "true");
    let started = caller().post("/api/v1/auth/passkey/initiate-passkey-registration", json!({})).await.json();
    assert_eq!(started["options_json"]["user"]["name"], "Account");
    let passkey = SoftPasskey::create(&started["options_json"], Page::default(), 1);
    let body = json!({ "code": started["code"], "credential": passkey.registration(&started["options_json"]) });
    assert_eq!(caller().post(PATH, body).await.status(), 200);
    let back = app.sign_in_with(&passkey).await.json();
    assert_eq!(back["user_id"], visitor.user_id);
    let me = app.signed_in(&SignedInUser::of("", &back)).with("x-stack-allow-anonymous-user", "true").get(ME).await.json();
    assert_eq!((&me["is_anonymous"], &me["passkey_auth_enabled"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn an_international_domain_is_the_same_however_it_is_written() {
    for domain in ["https://münchen.example", "https://MÜNCHEN.example", "https://xn--mnchen-3ya.example"] {
        let app = TestApp::start().await;
        let config = json!({ "passkey_enabled": true, "domains": [{ "domain": domain, "handler_path": "/handler" }] });
        app.configure(json!({ "config": config })).await;
        let ada = app.sign_up("ada@example.com").await;
        // Browsers report the domain to pages in its ASCII form.
        let page = Page::new("https://xn--mnchen-3ya.example", "xn--mnchen-3ya.example");
        let passkey = app.add_passkey_on(&ada, 1, page).await;
        assert_eq!(app.sign_in_with(&passkey).await.status(), 200, "{domain}");
        let related = format!("/api/v1/projects/{}/.well-known/webauthn", app.project_id());
        assert_eq!(app.anonymous().get(&related).await.json(), json!({ "origins": ["https://xn--mnchen-3ya.example"] }), "{domain}");
    }
}
