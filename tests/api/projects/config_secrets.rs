//! Secrets in the configuration can be written, are shown as a placeholder, and are not kept if
//! their destination changes.

use serde_json::json;
use support::TestApp;

use super::INTERNAL;
use super::config::{CONFIG, assert_done, assert_refused, level, patch, put, read};

#[tokio::test]
async fn secrets_are_write_only() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let provider =
        json!({ "type": "github", "isShared": false, "allowSignIn": true, "clientId": "an-id", "clientSecret": "a-client-secret" });
    assert_done(&patch(&admin, "environment", json!({ "auth.oauth.providers.github": provider })).await);
    for path in [CONFIG.to_owned(), level("environment"), level("branch"), INTERNAL.to_owned()] {
        let text = admin.get(&path).await.text().to_owned();
        assert!(!text.contains("a-client-secret"), "{path}: {text}");
        assert_eq!(text.contains("github"), !path.ends_with("branch"), "{path}: {text}");
    }
    assert!(!format!("{:?}", app.table()).contains("a-client-secret"));
    let shown = read(&admin, &level("environment")).await;
    let github = &shown["auth.oauth.providers.github"];
    assert_eq!((&github["clientId"], &github["clientSecret"]), (&json!("an-id"), &json!("********")));
    // Writing back an unchanged level keeps the secret. Changing the client id requires the new
    // secret.
    assert_done(&put(&admin, "environment", shown, false).await);
    let moved = patch(&admin, "environment", json!({ "auth.oauth.providers.github.clientId": "other" })).await;
    assert_refused(&moved, "auth.oauth.providers.github.clientSecret is required");
}

#[tokio::test]
async fn a_secret_that_the_settings_contain_is_shown_as_a_placeholder() {
    let app = TestApp::start().await;
    let admin = app.admin();
    app.configure(json!({ "config": {
        "oauth_providers": [{ "id": "github", "client_id": "an-id", "client_secret": "a-secret" }],
        "email_config": {
            "type": "standard", "sender_email": "notes@example.com", "host": "mail.example.com", "port": 465,
            "username": "notes", "password": "a-secret",
        },
        "bot_challenge": { "site_key": "a-site", "secret_key": "a-secret" },
    } }))
    .await;
    let [github, mail, challenge] = ["auth.oauth.providers", "emails.server", "auth.botChallenge"];
    let (whole, own) = (read(&admin, CONFIG).await, read(&admin, &level("environment")).await);
    let shown = [
        (&whole["auth"]["oauth"]["providers"]["github"]["clientSecret"], &own[github]["github"]["clientSecret"]),
        (&whole["emails"]["server"]["password"], &own[mail]["password"]),
        (&whole["auth"]["botChallenge"]["secretKey"], &own[challenge]["secretKey"]),
    ];
    assert_eq!(shown, [(&json!("********"), &json!("********")); 3]);
    assert!(!whole.to_string().contains("a-secret") && !own.to_string().contains("a-secret"));
    // A level can be written back as it was read, but a different destination requires the secret
    // again.
    let before = app.table();
    for (key, field, value) in [
        (github, "github", json!({ "type": "github", "clientId": "other", "clientSecret": "********" })),
        (mail, "host", json!("evil.example.com")),
        (mail, "port", json!(587)),
        (mail, "username", json!("other")),
        (challenge, "siteKey", json!("other")),
    ] {
        let mut values = own[key].clone();
        values[field] = value;
        assert_refused(&patch(&admin, "environment", json!({ key: values.clone() })).await, key);
        let mut all = own.clone();
        all[key] = values;
        assert_refused(&put(&admin, "environment", all, false).await, key);
    }
    assert_eq!(app.table(), before);
    for (key, secret) in [(github, "github.clientSecret"), (mail, "password"), (challenge, "secretKey")] {
        let reset = admin.post(&format!("{}/reset-keys", level("environment")), json!({ "keys": [format!("{key}.{secret}")] })).await;
        assert_refused(&reset, "cannot be reset");
    }
    assert_done(&put(&admin, "environment", own.clone(), false).await);
    assert_eq!(read(&admin, &level("environment")).await, own);
    assert_eq!(read(&admin, CONFIG).await, whole);
}

#[tokio::test]
async fn a_mail_server_in_the_configuration_keeps_its_password() {
    let app = TestApp::start().await;
    let server = json!({
        "isShared": false, "provider": "smtp", "host": "mail.example.com", "port": 465, "username": "notes", "password": "the-password",
        "senderName": "Notes", "senderEmail": "notes@example.com",
    });
    assert_done(&patch(&app.admin(), "environment", json!({ "emails.server": server })).await);
    let shown = app.admin().get(INTERNAL).await.json()["config"]["email_config"].clone();
    assert_eq!((&shown["host"], &shown["port"], &shown["password"]), (&json!("mail.example.com"), &json!(465), &json!("********")));
    let config = read(&app.admin(), CONFIG).await["emails"]["server"].clone();
    assert_eq!((&config["host"], &config["password"]), (&json!("mail.example.com"), &json!("********")));
    let own = read(&app.admin(), &level("environment")).await["emails.server"].clone();
    assert_eq!((&own["host"], &own["password"]), (&json!("mail.example.com"), &json!("********")));
    // Writing back the unchanged level keeps the password.
    let config = read(&app.admin(), &level("environment")).await;
    assert_done(&put(&app.admin(), "environment", config, false).await);
    assert_eq!(app.admin().get(INTERNAL).await.json()["config"]["email_config"], shown);
    assert_refused(&patch(&app.admin(), "environment", json!({ "emails.server.host": "evil.test" })).await, "emails.server.password");
    assert_refused(&patch(&app.admin(), "branch", json!({ "emails.server.host": "mail.example.com" })).await, "emails.server.host");
}
