//! The grant `client_credentials` at the token endpoint, and access with the issued tokens.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};
use wire::clock::after;

const TOKEN: &str = "/api/v1/auth/oauth/token";
const KEYS: &str = "/api/v1/internal/api-keys";

async fn exchange(app: &TestApp, key: &str) -> Answer {
    let project = app.project_id().to_string();
    let form = [("grant_type", "client_credentials"), ("client_id", project.as_str()), ("client_secret", key)];
    app.anonymous().request("POST", TOKEN).form(&form).send().await
}

pub(super) async fn token(app: &TestApp, key: &str) -> String {
    let answer = exchange(app, key).await;
    assert_eq!((answer.status(), answer.header("cache-control")), (200, Some("no-store")), "{}", answer.text());
    answer.json()["access_token"].as_str().unwrap().to_owned()
}

/// Creates a set that contains one server key with these permissions. Returns the set's id and the
/// key.
pub(super) async fn machine(app: &TestApp, permissions: Value) -> (String, String) {
    let body = json!({
        "description": "Nightly export",
        "expires_at_millis": after(app.now(), SignedDuration::from_mins(5)).as_millisecond(),
        "has_publishable_client_key": false,
        "has_secret_server_key": true,
        "has_super_secret_admin_key": false,
        "permissions": permissions,
    });
    let made = app.admin().post(KEYS, body).await.json();
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("id"), text("secret_server_key"))
}

pub(super) fn server(app: &TestApp, token: &str) -> Caller {
    app.server().with("x-stack-secret-server-key", token)
}

fn claims(token: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

#[tokio::test]
async fn a_server_key_becomes_a_token_that_does_what_the_key_may() {
    let app = TestApp::start().await;
    let (set, key) = machine(&app, json!(["teams:write", "users:read"])).await;
    let answer = exchange(&app, &key).await.json();
    assert_eq!((&answer["token_type"], &answer["expires_in"]), (&json!("Bearer"), &json!(600)));
    assert_eq!((&answer["scope"], answer.get("refresh_token")), (&json!("teams:write users:read"), None));
    let token = answer["access_token"].as_str().unwrap();
    let found = claims(token);
    assert_eq!((&found["sub"], &found["scope"]), (&json!(set), &answer["scope"]));
    assert_eq!(found["aud"], format!("{}:machine", app.project_id()));
    assert!(!found.to_string().contains(&key), "the token does not have the key");

    assert_eq!(server(&app, token).get("/api/v1/users").await.status(), 200);
    assert_eq!(server(&app, token).post("/api/v1/users", json!({})).await.code(), "INSUFFICIENT_KEY_PERMISSION");
    let unlimited = self::token(&app, app.keys.server.expose_secret()).await;
    assert_eq!(claims(&unlimited)["scope"], "server");
    assert_eq!(server(&app, &unlimited).post("/api/v1/users", json!({})).await.status(), 201);
}

#[tokio::test]
async fn a_token_ends_when_it_or_its_key_expires_or_the_key_is_revoked() {
    let app = TestApp::start().await;
    let lasting = token(&app, app.keys.server.expose_secret()).await;
    let (set, key) = machine(&app, json!(["users:read"])).await;
    let (_, short) = machine(&app, json!(["users:read"])).await;
    let (revoked, expiring) = (token(&app, &key).await, token(&app, &short).await);
    let status = async |token: &str| server(&app, token).get("/api/v1/users").await.status();
    assert_eq!((status(&revoked).await, status(&expiring).await), (200, 200));
    let answer = app.admin().patch(&format!("{KEYS}/{set}"), json!({ "revoked": true })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(status(&revoked).await, 401);
    assert_eq!(exchange(&app, &key).await.json()["error"], "invalid_client");
    app.advance(SignedDuration::from_mins(5));
    assert_eq!((status(&expiring).await, status(&lasting).await), (401, 200));
    app.advance(SignedDuration::from_mins(5));
    assert_eq!(status(&lasting).await, 401);
}

#[tokio::test]
async fn only_a_server_key_of_the_project_is_exchanged() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let keys = [&app.keys.client, &app.keys.admin, &other.server].map(|key| key.expose_secret().to_owned());
    let token = token(&app, app.keys.server.expose_secret()).await;
    for wrong in keys.iter().map(String::as_str).chain(["", "ssk_wrong", &token]) {
        let answer = exchange(&app, wrong).await;
        assert_eq!(answer.json()["error"], "invalid_client", "{}", answer.text());
    }
    let at_other = app.server_of(&other).with("x-stack-secret-server-key", &token);
    assert_eq!(at_other.get("/api/v1/users").await.code(), "INVALID_SECRET_SERVER_KEY");
}

#[tokio::test]
async fn tokens_of_machines_and_of_users_do_not_replace_each_other() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(server(&app, &ada.access_token).get("/api/v1/users").await.code(), "INVALID_SECRET_SERVER_KEY");
    let token = token(&app, app.keys.server.expose_secret()).await;
    let as_user = app.client().with("x-stack-access-token", &token).get("/api/v1/users/me").await;
    assert_eq!(as_user.code(), "UNPARSABLE_ACCESS_TOKEN");
    let as_admin = app.admin().with("x-stack-super-secret-admin-key", &token).get(KEYS).await;
    assert_eq!(as_admin.code(), "INVALID_SUPER_SECRET_ADMIN_KEY");
    let claims = token.split('.').nth(1).unwrap();
    let forged = format!("eyJhbGciOiJub25lIiwidHlwIjoiYXQrand0In0.{claims}.");
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let tampered = format!("{signed}.{}", signature.chars().rev().collect::<String>());
    for wrong in [forged, tampered, "eyJ".to_owned(), "eyJ.eyJ.eyJ".to_owned()] {
        assert_eq!(server(&app, &wrong).get("/api/v1/users").await.code(), "INVALID_SECRET_SERVER_KEY", "{wrong}");
    }
}

#[tokio::test]
async fn the_jwks_contains_the_key_of_machine_tokens_only_on_request() {
    let app = TestApp::start().await;
    let token = token(&app, app.keys.server.expose_secret()).await;
    let header: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap()).unwrap();
    assert_eq!((&header["alg"], &header["typ"]), (&json!("ES256"), &json!("at+jwt")));
    let path = format!("/api/v1/projects/{}/.well-known/jwks.json", app.project_id());
    let ids = async |query: &str| {
        let set = app.anonymous().get(&format!("{path}{query}")).await.json();
        set["keys"].as_array().unwrap().iter().map(|key| key["kid"].clone()).collect::<Vec<_>>()
    };
    assert!(ids("?include_machines=true").await.contains(&header["kid"]));
    assert!(!ids("?include_anonymous=true").await.contains(&header["kid"]), "backends for users must not accept machines");
}

#[tokio::test]
async fn tokens_of_one_key_share_its_limits() {
    let limits = Limits::off().with(Rule::WriteServer, Some(Rate::new(2, 600))).with(Rule::Token, Some(Rate::new(3, 600)));
    let app = TestApp::start_with(limits).await;
    let key = app.keys.server.expose_secret();
    for _ in 0..2 {
        let token = token(&app, key).await;
        assert_eq!(server(&app, &token).post("/api/v1/users", json!({})).await.status(), 201);
        app.advance(SignedDuration::from_secs(1));
    }
    let third = token(&app, key).await;
    assert_eq!(server(&app, &third).post("/api/v1/users", json!({})).await.code(), "RATE_LIMITED");
    assert_eq!(exchange(&app, key).await.json()["error"], "temporarily_unavailable");
}
