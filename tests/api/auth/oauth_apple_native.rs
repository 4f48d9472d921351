//! `POST /api/v1/auth/oauth/callback/apple/native`.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use jiff::SignedDuration;
use p256::elliptic_curve::PrimeField as _;
use ring::hmac;
use serde_json::{Value, json};
use support::provider::Key;
use support::stand_in::StandIn;
use support::{Answer, Caller, TestApp, authenticator_code};

use super::assert_error;

const PATH: &str = "/api/v1/auth/oauth/callback/apple/native";
const BUNDLE: &str = "com.example.app";
const EMAIL: &str = "ada@example.com";
pub(super) const INVALID: &str = "INVALID_APPLE_CREDENTIALS";

/// A project with two apps at Apple, and the stand-in for Apple.
pub(super) async fn start() -> (TestApp, StandIn) {
    let apple = StandIn::start("apple", HashMap::new()).await;
    let app = TestApp::start_at(&apple).await;
    configure(&app, &apple, json!({})).await;
    (app, apple)
}

/// Configures Apple with two apps, in addition to other settings.
pub(super) async fn configure(app: &TestApp, apple: &StandIn, mut config: Value) {
    let mut provider = apple.setting();
    provider["apple_bundle_ids"] = json!(["com.example.other", BUNDLE]);
    config["oauth_providers"] = json!([provider]);
    app.configure(json!({ "config": config })).await;
}

/// The claims of a token from Apple.
pub(super) fn claims(app: &TestApp, sub: &str) -> Value {
    let now = app.now().as_second();
    json!({
        "iss": "https://appleid.apple.com", "aud": BUNDLE, "iat": now, "exp": now + 600, "sub": sub, "nonce_supported": true,
        "email": EMAIL, "email_verified": "true", "auth_time": now,
    })
}

pub(super) fn with(mut claims: Value, name: &str, value: impl Into<Value>) -> Value {
    claims[name] = value.into();
    claims
}

pub(super) async fn send(caller: &Caller, token: &str) -> Answer {
    caller.post(PATH, json!({ "id_token": token })).await
}

/// Signs in with a new token.
pub(super) async fn sign_in(app: &TestApp, apple: &StandIn, claims: &Value) -> Answer {
    send(&app.client(), &apple.key().sign(claims)).await
}

async fn me(app: &TestApp, answer: &Answer) -> Value {
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let token = answer.json()["access_token"].as_str().unwrap().to_owned();
    app.client().with("x-stack-access-token", &token).get("/api/v1/users/me").await.json()
}

async fn users(app: &TestApp) -> usize {
    app.server().get("/api/v1/users?include_anonymous=true").await.json()["items"].as_array().unwrap().len()
}

#[tokio::test]
async fn a_user_signs_up_and_later_signs_in() {
    let (app, apple) = start().await;
    let token = apple.key().sign(&claims(&app, "001.a"));
    let first = app.client().post(PATH, json!({ "id_token": token, "full_name": " Ada\u{202e} Lovelace " })).await;
    let user = me(&app, &first).await;
    assert_eq!(first.json()["is_new_user"], true);
    assert_eq!(first.json()["user_id"], user["id"]);
    assert_eq!((&user["primary_email"], &user["primary_email_verified"]), (&EMAIL.into(), &true.into()));
    assert_eq!((&user["display_name"], &user["profile_image_url"]), (&"Ada Lovelace".into(), &Value::Null));
    assert_eq!(user["oauth_providers"], json!([{ "id": "apple", "account_id": "001.a", "email": EMAIL }]));

    // Later tokens may contain another address or no address.
    app.advance(SignedDuration::from_hours(1));
    let mut later = with(claims(&app, "001.a"), "aud", "com.example.other");
    later.as_object_mut().unwrap().remove("email");
    let second = sign_in(&app, &apple, &later).await;
    assert_eq!((second.status(), &second.json()["is_new_user"], &second.json()["user_id"]), (200, &false.into(), &user["id"]));
    let refreshed = app
        .client()
        .with("x-stack-refresh-token", second.json()["refresh_token"].as_str().unwrap())
        .post("/api/v1/auth/sessions/current/refresh", json!({}))
        .await;
    assert_eq!(refreshed.status(), 200, "{}", refreshed.text());
    let without = with(with(claims(&app, "001.b"), "email", Value::Null), "email_verified", Value::Null);
    assert_eq!(me(&app, &sign_in(&app, &apple, &without).await).await["primary_email"], Value::Null);
    assert_eq!(users(&app).await, 2);
}

/// A token that is signed with the public key as a shared secret (RFC 8725 §2.1).
fn by_secret(key: &Key, claims: &Value) -> String {
    let header = json!({ "alg": "HS256", "kid": key.jwk()["kid"] });
    let signed = [&header, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string())).join(".");
    let secret = hmac::Key::new(hmac::HMAC_SHA256, key.jwk().to_string().as_bytes());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(hmac::sign(&secret, signed.as_bytes())))
}

#[tokio::test]
async fn tokens_that_apple_did_not_issue_for_an_app_of_the_project_are_refused() {
    let (app, apple) = start().await;
    let (good, key, now) = (claims(&app, "001.a"), apple.key(), app.now().as_second());
    let services_id = apple.setting()["client_id"].clone();
    let changed = [
        ("aud", services_id),
        ("aud", "com.attacker.app".into()),
        ("aud", json!([BUNDLE, "com.attacker.app"])),
        ("aud", Value::Null),
        ("iss", "https://appleid.apple.com/".into()),
        ("iss", "https://accounts.google.com".into()),
        ("iss", Value::Null),
        ("exp", (now - 61).into()),
        ("exp", Value::Null),
        ("iat", "now".into()),
        ("sub", Value::Null),
        ("sub", "".into()),
        ("sub", "a".repeat(256).into()),
    ];
    let mut tokens: Vec<String> = changed.map(|(name, value)| key.sign(&with(good.clone(), name, value))).into();
    let token = key.sign(&good);
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let shared = with(good.clone(), "aud", json!([BUNDLE, "com.attacker.app"]));
    tokens.extend([
        key.sign(&with(shared, "azp", "com.attacker.app")),
        key.forged().sign(&good),
        Key::new(7).sign(&good),
        key.unsigned(&good),
        format!("{signed}."),
        format!("{}.{signature}", key.unsigned(&with(good.clone(), "sub", "001.admin")).trim_end_matches('.')),
        by_secret(key, &good),
        String::new(),
        "..".to_owned(),
        "a".repeat(100_000),
    ]);
    for token in tokens {
        assert_error(&send(&app.client(), &token).await, 400, INVALID);
    }
    assert_eq!(users(&app).await, 0);
    assert_eq!(send(&app.client(), &token).await.status(), 200, "the token that the others differ from is valid");
}

/// The token with `n - s` instead of `s` in its signature, which is also valid.
fn flipped(token: &str) -> String {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let mut signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
    let half = <[u8; 32]>::try_from(&signature[32..]).unwrap();
    signature[32..].copy_from_slice(&(-p256::Scalar::from_repr(half.into()).unwrap()).to_repr());
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_works_once() {
    let (app, apple) = start().await;
    for sub in ["001.new", "001.new", "001.other"] {
        let token = apple.key().sign(&with(claims(&app, sub), "email", format!("{sub}@example.com")));
        let other = flipped(&token);
        let client = app.client();
        let sent = (0..10).map(|number| send(&client, if number % 2 == 0 { &token } else { &other }));
        let answers = futures_util::future::join_all(sent).await;
        assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1, "{sub}");
        for refused in answers.iter().filter(|answer| answer.status() != 200) {
            assert_error(refused, 400, INVALID);
        }
        for token in [&token, &other] {
            assert_error(&send(&app.client(), token).await, 400, INVALID);
        }
        app.advance(SignedDuration::from_secs(1));
    }
    assert_eq!(users(&app).await, 2);
    let token = apple.key().sign(&with(claims(&app, "001.new"), "email", Value::Null));
    assert_eq!(send(&app.client(), &flipped(&token)).await.status(), 200, "both signatures are valid");
    assert_error(&send(&app.client(), &token).await, 400, INVALID);
}

#[tokio::test]
async fn a_token_with_a_nonce_works_only_for_those_who_know_it() {
    let (app, apple) = start().await;
    // SHA-256 of `a nonce`, computed with `sha256sum`.
    let hash = "df71001510f3ff862b7342de1a92e1e700fd41e78677baf161079d3a5fcef6ec";
    let sign_in = async |sub: &str, claim: Value, nonce: Value| {
        let token = apple.key().sign(&with(with(claims(&app, sub), "nonce", claim), "email", Value::Null));
        app.client().post(PATH, json!({ "id_token": token, "nonce": nonce })).await
    };
    for (claim, nonce) in [
        (json!(hash), Value::Null),
        (json!(hash), json!("another nonce")),
        (json!(hash), json!(hash)),
        (json!("a nonce"), json!("a nonce")),
        (Value::Null, json!("a nonce")),
        (Value::Null, json!("")),
        (json!(""), Value::Null),
        (json!(7), json!("7")),
    ] {
        assert_error(&sign_in("001.a", claim, nonce).await, 400, INVALID);
    }
    assert_eq!(sign_in("001.a", json!(hash), json!("a nonce")).await.status(), 200);
    assert_eq!(sign_in("001.a", Value::Null, Value::Null).await.status(), 200);
}

#[tokio::test]
async fn the_merge_strategy_decides_about_a_verified_address() {
    let (app, apple) = start().await;
    let here = app.sign_in_by_mail(EMAIL).await;
    configure(&app, &apple, json!({ "oauth_account_merge_strategy": "raise_error" })).await;
    let refused = sign_in(&app, &apple, &claims(&app, "001.a")).await;
    assert_error(&refused, 409, "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    configure(&app, &apple, json!({ "oauth_account_merge_strategy": "link_method" })).await;
    let unverified = with(claims(&app, "001.a"), "email_verified", "false");
    let details = assert_error(&sign_in(&app, &apple, &unverified).await, 409, "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    assert_eq!(details, json!({ "type": "email", "contact_channel_value": EMAIL, "would_work_if_email_was_verified": false }));
    let linked = sign_in(&app, &apple, &claims(&app, "001.a")).await;
    assert_eq!((&linked.json()["user_id"], &linked.json()["is_new_user"]), (&here.user_id.clone().into(), &false.into()));
    let again = sign_in(&app, &apple, &unverified).await;
    assert_eq!(again.json()["user_id"], here.user_id, "a linked account is found by its id");
    configure(&app, &apple, json!({ "oauth_account_merge_strategy": "allow_duplicates" })).await;
    let other = sign_in(&app, &apple, &claims(&app, "001.b")).await;
    assert!(other.status() == 200 && other.json()["user_id"] != here.user_id);
    assert_eq!(app.sign_in_by_mail(EMAIL).await.user_id, here.user_id);
}

#[tokio::test]
async fn the_first_to_prove_an_address_gets_its_account() {
    let (app, apple) = start().await;
    let eve = app.sign_up(EMAIL).await;
    let other = json!({ "user_id": eve.user_id, "type": "email", "value": "eve@b.example", "used_for_auth": true, "is_verified": true });
    assert_eq!(app.server().post("/api/v1/contact-channels", other).await.status(), 201);
    let owner = sign_in(&app, &apple, &claims(&app, "001.a")).await;
    let user = me(&app, &owner).await;
    assert_eq!((&user["id"], &user["has_password"]), (&eve.user_id.clone().into(), &false.into()));
    assert_eq!(app.signed_in(&eve).get("/api/v1/users/me").await.status(), 401, "the squatter's session has ended");
    assert!(app.last_mail(EMAIL).await.0.text.contains("account"), "the owner is told");
    assert_ne!(app.sign_up("eve@b.example").await.user_id, eve.user_id, "the squatter's other address is free");
}

#[tokio::test]
async fn a_sign_in_from_a_new_place_is_notified() {
    let (app, apple) = start().await;
    configure(&app, &apple, json!({ "new_sign_in_mails": true })).await;
    let at = |address: &str| app.client().with("cloudfront-viewer-address", &format!("{address}:4711"));
    let told = async || app.mails(EMAIL).await.iter().filter(|mail| mail.0.subject.starts_with("New sign-in to ")).count();
    assert_eq!(send(&at("203.0.113.7"), &apple.key().sign(&claims(&app, "001.a"))).await.status(), 200);
    assert_eq!(told().await, 0, "the first sign-in is not notified");
    assert_eq!(send(&at("198.51.100.1"), &apple.key().sign(&with(claims(&app, "001.a"), "jti", "2"))).await.status(), 200);
    assert_eq!(told().await, 1);
}

#[tokio::test]
async fn members_of_a_team_that_needs_a_second_factor_are_restricted() {
    let (app, apple) = start().await;
    let first = sign_in(&app, &apple, &claims(&app, "001.a")).await.json();
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Ops", "creator_user_id": first["user_id"] })).await.json()["id"]
        .clone();
    configure(&app, &apple, json!({ "second_factor": { "required_of_teams": [team] } })).await;
    let signed_in = sign_in(&app, &apple, &with(claims(&app, "001.a"), "jti", "2")).await.json();
    assert_eq!(super::mfa_sign_in::claims(&signed_in["access_token"])["is_restricted"], true);
}

#[tokio::test]
async fn a_second_factor_is_asked_for_unless_the_device_is_remembered() {
    let (app, apple) = start().await;
    configure(&app, &apple, json!({ "second_factor": { "remember_device_days": 30 } })).await;
    let first = sign_in(&app, &apple, &claims(&app, "001.a")).await;
    let caller = app.client().with("x-stack-access-token", first.json()["access_token"].as_str().unwrap());
    let secret = STANDARD.encode([7; 20]);
    assert_eq!(caller.patch("/api/v1/users/me", json!({ "totp_secret_base64": secret })).await.status(), 200);
    let token = apple.key().sign(&with(claims(&app, "001.a"), "jti", "2"));
    let asked = assert_error(&send(&app.client(), &token).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    assert_error(&send(&app.client(), &token).await, 400, INVALID);
    let totp = authenticator_code(&[7; 20], app.now().as_second());
    let body = json!({ "type": "totp", "totp": totp, "code": asked["attempt_code"], "remember_device": true });
    let done = app.client().post("/api/v1/auth/mfa/sign-in", body).await;
    assert_eq!((done.status(), &done.json()["user_id"]), (200, &first.json()["user_id"]), "{}", done.text());
    let known = app.client().with("x-stack-device-token", done.json()["device_token"].as_str().unwrap());
    assert_eq!(send(&known, &apple.key().sign(&with(claims(&app, "001.a"), "jti", "3"))).await.status(), 200);
}

#[tokio::test]
async fn an_anonymous_user_is_upgraded() {
    let (app, apple) = start().await;
    let anonymous = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let caller = app.client().with("x-stack-access-token", anonymous["access_token"].as_str().unwrap());
    let caller = caller.with("x-stack-allow-anonymous-user", "true");
    let upgraded = send(&caller, &apple.key().sign(&claims(&app, "001.a"))).await;
    let user = me(&app, &upgraded).await;
    assert_eq!((&upgraded.json()["is_new_user"], &user["id"]), (&true.into(), &anonymous["user_id"]));
    assert_eq!((&user["is_anonymous"], &user["primary_email"]), (&false.into(), &EMAIL.into()));
    // The account belongs to this user, no matter who else is signed in.
    let eve = app.sign_up("eve@example.com").await;
    let again = send(&app.signed_in(&eve), &apple.key().sign(&with(claims(&app, "001.a"), "jti", "2"))).await;
    assert_eq!(again.json()["user_id"], user["id"]);
    assert_eq!(app.signed_in(&eve).get("/api/v1/users/me").await.json()["oauth_providers"], json!([]));
}

#[tokio::test]
async fn an_account_that_must_not_sign_in_does_not() {
    let (app, apple) = start().await;
    let first = sign_in(&app, &apple, &claims(&app, "001.a")).await.json();
    let user = first["user_id"].as_str().unwrap();
    let listed = app.server().get(&format!("/api/v1/oauth-providers?user_id={user}")).await.json();
    let path = format!("/api/v1/oauth-providers/{user}/{}", listed["items"][0]["id"].as_str().unwrap());
    assert_eq!(app.server().patch(&path, json!({ "allow_sign_in": false })).await.status(), 200);
    let refused = sign_in(&app, &apple, &with(claims(&app, "001.a"), "jti", "2")).await;
    assert_error(&refused, 409, "OAUTH_CONNECTION_ALREADY_CONNECTED_TO_ANOTHER_USER");
}

#[tokio::test]
async fn the_project_must_offer_apple_and_name_its_apps() {
    let (app, apple) = start().await;
    let token = apple.key().sign(&claims(&app, "001.a"));
    app.configure(json!({ "config": { "oauth_providers": [] } })).await;
    assert_error(&send(&app.client(), &token).await, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
    app.configure(json!({ "config": { "oauth_providers": [apple.setting()] } })).await;
    assert_error(&send(&app.client(), &token).await, 400, "APPLE_BUNDLE_ID_NOT_CONFIGURED");
    configure(&app, &apple, json!({})).await;
    let off = json!({ "auth.oauth.providers.apple.allowSignIn": false });
    let path = "/api/v1/internal/config/override/environment";
    assert_eq!(app.admin().patch(path, json!({ "config_override_string": off.to_string() })).await.status(), 200);
    assert_error(&send(&app.client(), &token).await, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
}
