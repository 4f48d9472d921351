//! The claims of access tokens, and their signature with a published key, as third parties verify
//! them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use support::{API_URL, SignedInUser, TestApp};

use crate::stored;

fn decode(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

/// Whether a published key signed the token.
fn is_signed_by(keys: &Value, token: &str) -> bool {
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let kid = decode(token.split('.').next().unwrap())["kid"].clone();
    let Some(key) = keys.as_array().unwrap().iter().find(|key| key["kid"] == kid) else { return false };
    let coordinate = |name: &str| URL_SAFE_NO_PAD.decode(key[name].as_str().unwrap()).unwrap();
    let point = [vec![4], coordinate("x"), coordinate("y")].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).is_ok()
}

async fn keys(app: &TestApp, query: &str) -> Value {
    let path = format!("/api/v1/projects/{}/.well-known/jwks.json{query}", app.project_id());
    let answer = app.anonymous().get(&path).await;
    assert_eq!((answer.status(), answer.header("cache-control")), (200, Some("public, max-age=3600")));
    answer.json()["keys"].clone()
}

async fn restricted(app: &TestApp) -> SignedInUser {
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    app.sign_up("restricted@example.com").await
}

#[tokio::test]
async fn a_token_has_exactly_the_documented_claims() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let sessions = app.signed_in(&ada).get("/api/v1/auth/sessions").await.json();
    let (project, now) = (app.project_id().to_string(), app.now().as_second());

    let parts: Vec<&str> = ada.access_token.split('.').collect();
    let header = decode(parts[0]);
    assert_eq!(header.as_object().unwrap().keys().collect::<Vec<_>>(), ["alg", "kid", "typ"]);
    assert_eq!(header["typ"], "at+jwt");
    assert_eq!((&header["alg"], header["kid"].as_str().unwrap().len()), (&json!("ES256"), 12));
    let claims = json!({
        "sub": ada.user_id,
        "iss": format!("{API_URL}/api/v1/projects/{project}"),
        "aud": project,
        "iat": now,
        "exp": now + 600,
        "client_id": project,
        "scope": "openid profile email teams permissions",
        "project_id": project,
        "branch_id": "main",
        "refresh_token_id": sessions["items"][0]["id"],
        "role": "authenticated",
        "name": null,
        "email": "ada@example.com",
        "email_verified": false,
        "selected_team_id": null,
        "signed_up_at": now,
        "is_anonymous": false,
        "is_restricted": false,
        "restricted_reason": null,
        "requires_totp_mfa": false,
    });
    assert_eq!(decode(parts[1]), claims);
}

#[tokio::test]
async fn a_token_is_signed_only_by_the_published_key_of_its_audience() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (anonymous, restricted) = (stored::anonymous_user(&app).await, restricted(&app).await);
    let (normal, with_restricted, all) =
        (keys(&app, "").await, keys(&app, "?include_restricted=true").await, keys(&app, "?include_anonymous=true").await);
    assert_eq!([&normal, &with_restricted, &all].map(|keys| keys.as_array().unwrap().len()), [1, 2, 3]);
    for key in all.as_array().unwrap() {
        assert_eq!(key.as_object().unwrap().keys().collect::<Vec<_>>(), ["alg", "crv", "kid", "kty", "use", "x", "y"]);
        assert_eq!((&key["kty"], &key["crv"], &key["alg"]), (&json!("EC"), &json!("P-256"), &json!("ES256")));
    }
    let signed = |token: &str| [&normal, &with_restricted, &all].map(|keys| is_signed_by(keys, token));
    assert_eq!(signed(&ada.access_token), [true, true, true]);
    assert_eq!(signed(&restricted.access_token), [false, true, true]);
    assert_eq!(signed(&anonymous.access_token), [false, false, true]);
}

#[tokio::test]
async fn restricted_and_anonymous_users_have_separate_issuers_and_audiences() {
    let app = TestApp::start().await;
    let project = app.project_id().to_string();
    let restricted = restricted(&app).await;
    let claims = decode(restricted.access_token.split('.').nth(1).unwrap());
    assert_eq!(claims["aud"], format!("{project}:restricted"));
    assert_eq!(claims["iss"], format!("{API_URL}/api/v1/projects-restricted-users/{project}"));
    assert_eq!((&claims["is_restricted"], &claims["restricted_reason"]), (&json!(true), &json!({ "type": "email_not_verified" })));

    let visitor = stored::anonymous_user(&app).await;
    let refreshed = app.client().with("x-stack-refresh-token", &visitor.refresh_token);
    let refreshed = refreshed.post("/api/v1/auth/sessions/current/refresh", json!({})).await.json();
    let claims = decode(refreshed["access_token"].as_str().unwrap().split('.').nth(1).unwrap());
    assert_eq!(claims["aud"], format!("{project}:anon"));
    assert_eq!(claims["iss"], format!("{API_URL}/api/v1/projects-anonymous-users/{project}"));
    assert_eq!((&claims["is_anonymous"], &claims["is_restricted"]), (&json!(true), &json!(true)));
    assert_eq!((&claims["restricted_reason"], &claims["email"]), (&json!({ "type": "anonymous" }), &Value::Null));
}

#[tokio::test]
async fn projects_have_different_keys_and_unknown_projects_none() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let other = app.another_project().await;
    let others = app.anonymous().get(&format!("/api/v1/projects/{}/.well-known/jwks.json", other.project_id)).await.json();
    assert_ne!(others["keys"], keys(&app, "").await);
    assert!(!is_signed_by(&others["keys"], &ada.access_token));
    for id in ["7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21", "nothing", "..%2f"] {
        let answer = app.anonymous().get(&format!("/api/v1/projects/{id}/.well-known/jwks.json")).await;
        assert_eq!((answer.status(), answer.code().as_str()), (404, "PROJECT_NOT_FOUND"));
    }
}
