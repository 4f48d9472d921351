//! Requirements of security standards that no other test covers. The documents in `infra/security/`
//! list the tests of each requirement.

use std::collections::BTreeSet;

use api::http::Interface;
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use crypto::password::hash::Hasher;
use infra::operations;
use jiff::SignedDuration;
use model::limit::Limits;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use support::{SignedInUser, TestApp, authenticator_code, refused};
use wire::id::UserId;

use super::{NEW, PASSWORD, password_sign_in, reset, reset_code};
use crate::auth::assert_error;

const ME: &str = "/api/v1/users/me";

/// Asserts that the texts have `length` characters and that each character is unpredictable. At
/// each position, at least half of the alphabet's 32 characters must occur.
fn assert_random(texts: &[String], length: usize) {
    assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), texts.len());
    for place in 0..length {
        let found: BTreeSet<u8> = texts.iter().map(|text| text.as_bytes()[place]).collect();
        assert!(found.iter().all(|byte| b"0123456789abcdefghjkmnpqrstvwxyz".contains(byte)), "{texts:?}");
        assert!(found.len() >= 16, "place {place} takes {} characters", found.len());
    }
    assert!(texts.iter().all(|text| text.len() == length), "{texts:?}");
}

#[tokio::test]
async fn every_sign_in_gets_a_new_refresh_token_with_130_secret_bits() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let mut tokens = Vec::new();
    for _ in 0..64 {
        // The access token also contains the first 64 characters.
        tokens.push(app.sign_in("ada@example.com").await.refresh_token.split_off(64));
    }
    assert_random(&tokens, 26);
}

#[tokio::test]
async fn every_emailed_code_has_225_random_bits_of_which_30_are_typed() {
    let app = TestApp::start().await;
    let mut codes = Vec::new();
    for number in 0..64 {
        codes.push(app.sign_in_code(&format!("user{number}@example.com")).await);
    }
    assert_random(&codes, 45);
    let mail = app.last_mail("user0@example.com").await;
    let typed = codes[0][..6].to_uppercase();
    assert!(mail.0.text.contains(&typed), "the first six characters are the typed part: {}", mail.0.text);
}

#[tokio::test]
async fn a_password_never_expires() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    for _ in 0..3 {
        app.advance(SignedDuration::from_hours(24 * 365 * 5));
        let ada = app.sign_in("ada@example.com").await;
        assert_eq!(app.signed_in(&ada).get(ME).await.status(), 200);
    }
}

/// Every character of the longest password matters, and so does its case.
#[tokio::test]
async fn passwords_are_compared_in_full() {
    let app = TestApp::start().await;
    let start: String = "a long password ".chars().cycle().take(127).collect();
    let right = format!("{start}B");
    let body = json!({ "email": "ada@example.com", "password": right });
    assert_eq!(app.client().post("/api/v1/auth/password/sign-up", body).await.status(), 200);
    for wrong in [format!("{start}C"), format!("{start}b"), start.clone(), format!("{start}B ")] {
        assert_error(&password_sign_in(&app, "ada@example.com", &wrong).await, 400, "EMAIL_PASSWORD_MISMATCH");
    }
    assert_eq!(password_sign_in(&app, "ada@example.com", &right).await.status(), 200);
}

#[tokio::test]
async fn a_stored_password_is_a_salted_argon2id_hash() {
    // This test uses the same hasher as a deployment; the other tests use a cheaper one.
    let app = TestApp::start_hashing(Limits::off(), Hasher::default()).await;
    let mut salts = BTreeSet::new();
    for email in ["ada@example.com", "bob@example.com"] {
        let id = UserId::parse(&app.sign_up(email).await.user_id).unwrap();
        let user = app.app.store.user(app.project_id(), id).await.unwrap().unwrap().user;
        let hash = serde_json::to_value(user.password).unwrap().as_str().unwrap().to_owned();
        let parts: Vec<&str> = hash.split('$').collect();
        assert_eq!(parts[1..4], ["argon2id", "v=19", "m=19456,t=2,p=1"], "as documented");
        // The salt: 16 bytes in base64.
        assert_eq!(parts[4].len(), 22);
        assert!(salts.insert(parts[4].to_owned()), "two accounts have the same salt");
    }
}

#[tokio::test]
async fn a_new_project_has_no_account() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let internal = app.internal_project().await;
    for keys in [&app.keys, &other, &internal] {
        let users = app.server_of(keys).get("/api/v1/users?include_anonymous=true&include_restricted=true").await.json();
        assert_eq!(users["items"], json!([]), "{}", keys.project_id);
    }
}

#[tokio::test]
async fn a_reset_does_not_bypass_the_second_factor() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let secret = b"a secret of an app";
    let verified = json!({ "primary_email_verified": true, "totp_secret_base64": STANDARD.encode(secret) });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), verified).await.status(), 200);
    let code = reset_code(&app, "ada@example.com").await;
    let done = reset(&app, &code).await;
    assert_eq!((done.status(), done.json()), (200, json!({ "success": true })), "it starts no session");

    let waiting = password_sign_in(&app, "ada@example.com", NEW).await;
    let details = assert_error(&waiting, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    let totp = authenticator_code(secret, app.now().as_second());
    let body = json!({ "type": "totp", "code": details["attempt_code"], "totp": totp });
    assert_eq!(app.client().post("/api/v1/auth/mfa/sign-in", body).await.status(), 200);
}

/// The address of a deleted user may now belong to someone else.
#[tokio::test]
async fn a_released_address_identifies_a_new_user() {
    let app = TestApp::start().await;
    let first = app.sign_in_by_mail("ada@example.com").await;
    let path = format!("/api/v1/users/{}", first.user_id);
    assert_eq!(app.server().delete(&path).await.status(), 200);
    let second = app.sign_in_by_mail("ada@example.com").await;
    assert_ne!(second.user_id, first.user_id);
    assert_error(&app.signed_in(&first).get(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_error(&app.server().get(&path).await, 404, "USER_NOT_FOUND");
}

#[tokio::test]
async fn a_token_with_an_embedded_key_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let random = SystemRandom::new();
    let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pair.as_ref(), &random).unwrap();
    let (x, y) = pair.public_key().as_ref()[1..].split_at(32);
    let jwk = json!({ "kty": "EC", "crv": "P-256", "x": URL_SAFE_NO_PAD.encode(x), "y": URL_SAFE_NO_PAD.encode(y) });

    let parts: Vec<&str> = ada.access_token.split('.').collect();
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(parts[0]).unwrap()).unwrap();
    for (name, value) in [
        ("jwk", jwk),
        ("jku", json!("https://evil.example/jwks.json")),
        ("x5u", json!("https://evil.example/certificate.pem")),
        ("kid", json!("../../../dev/null")),
        ("kid", Value::Null),
    ] {
        let mut header = header.clone();
        header[name] = value;
        let signed = format!("{}.{}", URL_SAFE_NO_PAD.encode(header.to_string()), parts[1]);
        let signature = URL_SAFE_NO_PAD.encode(pair.sign(&random, signed.as_bytes()).unwrap().as_ref());
        let forged = SignedInUser { access_token: format!("{signed}.{signature}"), ..ada.clone() };
        assert_error(&app.signed_in(&forged).get(ME).await, 401, "UNPARSABLE_ACCESS_TOKEN");
    }
    assert_eq!(app.signed_in(&ada).get(ME).await.status(), 200);
}

/// A page on another site can make a browser send cookies, but not the headers that authenticate a
/// caller.
#[tokio::test]
async fn cookies_do_not_authenticate() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let names = ["x-stack-access-token", "x-service-access-token", "access_token", "stack-access", "token", "refresh_token"];
    let cookies: Vec<String> = names.iter().map(|name| format!("{name}={}", ada.access_token)).collect();
    let client = app.client().with("cookie", &cookies.join("; "));
    assert_error(&client.get(ME).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_error(&client.patch(ME, json!({ "display_name": "Eve" })).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_eq!(client.delete("/api/v1/auth/sessions/current").await.status(), 401);
    let keys = format!("x-stack-secret-server-key={}", app.keys.server.expose_secret());
    let server = app.client().with("x-stack-access-type", "server").with("cookie", &keys);
    assert_error(&server.get("/api/v1/users").await, 401, "SERVER_AUTHENTICATION_REQUIRED");
    assert_eq!(app.signed_in(&ada).get(ME).await.json()["display_name"], Value::Null);
}

/// Tokens in URLs end up in logs and browser histories.
#[tokio::test]
async fn a_token_in_the_url_does_not_authenticate() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for name in ["access_token", "token", "x-stack-access-token"] {
        let answer = app.client().get(&format!("{ME}?{name}={}", ada.access_token)).await;
        assert!((400..500).contains(&answer.status()), "{}", answer.text());
        assert!(!answer.text().contains(&ada.user_id), "{}", answer.text());
    }
}

#[tokio::test]
async fn issued_credentials_are_stored_only_as_digests() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let admin = app.admin();
    let made = admin.post(
        "/api/v1/internal/api-keys",
        json!({
            "description": "for a test", "expires_at_millis": app.now().as_millisecond() + 60_000,
            "has_publishable_client_key": true, "has_secret_server_key": true, "has_super_secret_admin_key": true,
        }),
    );
    let made = made.await.json();
    let refreshed = app.signed_in(&ada).post("/api/v1/auth/sessions/current/refresh", json!({})).await.json();
    let table: String = app.table().values().map(ToString::to_string).collect();
    let keys = ["publishable_client_key", "secret_server_key", "super_secret_admin_key"].map(|name| made[name].as_str().unwrap());
    let handed = [PASSWORD, &ada.access_token, &ada.refresh_token, refreshed["access_token"].as_str().unwrap()];
    for secret in handed.into_iter().chain(keys) {
        assert!(!table.contains(secret), "the table contains {}…", &secret[..8]);
        // The table does not contain a usable part of the secret, such as a key without its prefix.
        assert!(!table.contains(&secret[secret.len() / 2..]), "the table contains half of {}…", &secret[..8]);
    }
}

/// Checks the pages behind links in emails, because their URLs contain codes.
#[tokio::test]
async fn pages_cannot_be_framed_load_nothing_and_send_no_referrer() {
    let app = TestApp::start().await;
    let mut pages = 0;
    for operation in operations::all() {
        let is_page = operation.description.text == Some("text/html") && operation.route.interface == Interface::Product;
        if !is_page {
            continue;
        }
        pages += 1;
        let path = format!("{}?code={}", operation.route.path, "0".repeat(45));
        let page = app.anonymous().request(operation.route.verb.name(), &path).send().await;
        let what = operation.route.name;
        assert_eq!(page.header("content-type"), Some("text/html; charset=utf-8"), "{what}: {}", page.text());
        let policy = page.header("content-security-policy").unwrap();
        for directive in ["default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"] {
            assert!(policy.split("; ").any(|one| one == directive), "{what}: {policy}");
        }
        assert_eq!(page.header("referrer-policy"), Some("no-referrer"), "{what}");
        assert!(page.header("cache-control").is_some_and(|cache| cache.contains("no-store")), "{what}");
        let text = page.text();
        assert!(!text.contains("<script") && !text.contains("src=") && !text.contains("http"), "{what}: {text}");
    }
    assert!(pages >= 6, "each of three links has a page for GET and one for POST: {pages}");
}

/// Fails each call to the table in turn. If authentication or counting fails, the request neither
/// has an effect nor returns data. Only the call that takes back the count of a correct password
/// may fail without this consequence.
#[tokio::test]
async fn a_request_that_cannot_be_counted_or_authenticated_is_rejected() {
    let app = TestApp::start_with(Limits::standard()).await;
    let ada = app.sign_up("ada@example.com").await;
    // The first refresh of a day also records that the user is active. The refresh succeeds even if
    // this write fails.
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    let body = json!({ "email": "ada@example.com", "password": PASSWORD });
    let requests = [
        ("POST", "/api/v1/auth/password/sign-in", body, app.client()),
        ("PATCH", ME, json!({ "display_name": "Ada" }), app.signed_in(&ada)),
        ("GET", ME, json!(null), app.signed_in(&ada)),
        ("POST", "/api/v1/auth/sessions/current/refresh", json!({}), app.signed_in(&ada)),
    ];
    for (method, path, body, caller) in requests {
        let mut failed = 0;
        loop {
            app.recorder.break_call(failed, refused("AccessDeniedException"));
            let request = caller.request(method, path);
            let answer = if body.is_null() { request.send().await } else { request.json(&body).send().await };
            if !app.recorder.is_done() {
                assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
                break;
            }
            failed += 1;
            if answer.status() == 200 && app.recorder.writes().last().is_some_and(|(_, body)| body.contains(":minus")) {
                continue;
            }
            assert!(answer.status() >= 500, "{path}, call {failed}: {} {}", answer.status(), answer.text());
            assert!(!answer.text().contains("token\":") && !answer.text().contains(&ada.user_id), "{}", answer.text());
        }
        assert!(failed >= 1, "{path} makes no call to the table");
        app.recorder.clear();
    }
}
