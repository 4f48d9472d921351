//! Settings of bot challenges, which administrators write and clients read.

use serde_json::{Value, json};
use support::TestApp;
use support::turnstile::{SECRET_KEY, SITE_KEY};

use super::*;

const PROJECT: &str = "/api/v1/internal/projects/current";
const ENVIRONMENT: &str = "/api/v1/internal/config/override/environment";

fn turnstile() -> Value {
    json!({ "provider": "turnstile", "site_key": SITE_KEY, "secret_key": SECRET_KEY, "oauth": "off" })
}

async fn patch(app: &TestApp, settings: Value) -> Answer {
    app.admin().patch(PROJECT, json!({ "config": { "bot_challenge": settings } })).await
}

#[tokio::test]
async fn clients_read_the_challenge_settings_but_nobody_reads_the_secret() {
    let app = TestApp::start().await;
    let read = async || app.client().get("/api/v1/projects/current").await.json()["config"]["bot_challenge"].clone();
    let policies = json!({ "sign_up": "when-suspicious", "send_sign_in_code": "when-suspicious", "oauth": "when-suspicious" });
    assert_eq!(read().await, with(json!({ "provider": "off", "site_key": null }), policies.clone()));
    guard(&app, turnstile()).await;
    let expected = with(json!({ "provider": "turnstile", "site_key": SITE_KEY }), with(policies, json!({ "oauth": "off" })));
    assert_eq!(read().await, expected);
    let admin = app.admin().get(PROJECT).await;
    assert_eq!(admin.json()["config"]["bot_challenge"], expected);
    let config = app.admin().get("/api/v1/internal/config").await;
    for text in [admin.text(), config.text()] {
        assert!(!text.contains(SECRET_KEY), "{text}");
    }
    let stored = app.table().into_values().map(|item| item.to_string()).collect::<String>();
    assert!(stored.contains(SITE_KEY) && !stored.contains(SECRET_KEY));
}

#[tokio::test]
async fn an_invalid_setting_is_explained() {
    let app = TestApp::start().await;
    for (settings, problem) in [
        (json!({ "provider": "hcaptcha" }), "config.bot_challenge.provider must be one of"),
        (json!({ "sign_up": "sometimes" }), "config.bot_challenge.sign_up must be one of"),
        (json!({ "provider": "turnstile" }), "config.bot_challenge.site_key is required for the provider turnstile"),
        (json!({ "site_key": "a" }), "config.bot_challenge.secret_key is required when the site key changes"),
        (json!({ "secret_key": "a" }), "config.bot_challenge.site_key is required together with secret_key"),
        (json!({ "site_key": "a b", "secret_key": "c" }), "config.bot_challenge.site_key must be a Turnstile key"),
        (json!({ "endpoint": "https://evil.example" }), "config.bot_challenge.endpoint is not known"),
    ] {
        let answer = patch(&app, settings).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
        assert!(answer.text().contains(problem), "{problem} in {}", answer.text());
    }
    for requests in [0, 1_000_001] {
        let answer = app.admin().patch(PROJECT, json!({ "config": { "bot_challenge_usual_requests_per_hour": requests } })).await;
        assert!(answer.text().contains("config.bot_challenge_usual_requests_per_hour must be from 1 to 1000000"), "{}", answer.text());
    }
}

#[tokio::test]
async fn the_configuration_has_the_same_settings() {
    let app = TestApp::start().await;
    let write = async |values: Value| app.admin().patch(ENVIRONMENT, json!({ "config_override_string": values.to_string() })).await;
    let values = json!({
        "auth.botChallenge": { "provider": "turnstile", "siteKey": SITE_KEY, "secretKey": SECRET_KEY, "signUp": "always", "usualRequestsPerHour": 7 },
    });
    let written = write(values).await;
    assert_eq!(written.status(), 200, "{}", written.text());
    assert_required(&app.client().post(SIGN_UP, account_of("ada@example.com", json!({}))).await);
    let config = app.admin().get("/api/v1/internal/config").await.json();
    let config: Value = serde_json::from_str(config["config_string"].as_str().unwrap()).unwrap();
    assert_eq!(
        config["auth"]["botChallenge"],
        json!({
            "provider": "turnstile", "siteKey": SITE_KEY, "secretKey": "********", "signUp": "always",
            "sendSignInCode": "when-suspicious", "oauth": "when-suspicious", "usualRequestsPerHour": 7,
        })
    );
    let wrong = write(json!({ "auth.botChallenge.siteKey": "another" })).await;
    assert!(wrong.text().contains("auth.botChallenge.secretKey is required when the site key changes"), "{}", wrong.text());
    let wrong = write(json!({ "auth.botChallenge.usualRequestsPerHour": 0 })).await;
    assert!(wrong.text().contains("auth.botChallenge.usualRequestsPerHour must be from 1"), "{}", wrong.text());
    // Changing a different key keeps the secret. Resetting all keys disables the challenge, which
    // then has no provider.
    assert_eq!(write(json!({ "auth.botChallenge.signUp": "when-suspicious" })).await.status(), 200);
    assert_eq!(app.client().get("/api/v1/projects/current").await.json()["config"]["bot_challenge"]["provider"], "turnstile");
    let secret = json!({ "keys": ["auth.botChallenge.secretKey"] });
    assert_eq!(app.admin().post(&format!("{ENVIRONMENT}/reset-keys"), secret).await.status(), 400);
    assert_eq!(app.admin().post(&format!("{ENVIRONMENT}/reset-keys"), json!({ "keys": ["auth.botChallenge"] })).await.status(), 200);
    assert_eq!(app.client().get("/api/v1/projects/current").await.json()["config"]["bot_challenge"]["provider"], "off");
}

#[tokio::test]
async fn turnstile_keys_cannot_be_set_at_the_branch_level() {
    let app = TestApp::start().await;
    let branch = ENVIRONMENT.replace("environment", "branch");
    for key in ["provider", "siteKey", "secretKey"] {
        let values = json!({ format!("auth.botChallenge.{key}"): "turnstile" });
        let answer = app.admin().patch(&branch, json!({ "config_override_string": values.to_string() })).await;
        assert!(answer.text().contains(&format!("auth.botChallenge.{key} is not a key of this level")), "{}", answer.text());
    }
    let policy = json!({ "auth.botChallenge.signUp": "always" });
    assert_eq!(app.admin().patch(&branch, json!({ "config_override_string": policy.to_string() })).await.status(), 200);
}
