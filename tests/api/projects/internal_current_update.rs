//! `PATCH /api/v1/internal/projects/current`. Every setting is returned, and an invalid setting
//! changes nothing.

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use support::TestApp;

use super::INTERNAL;

async fn project(app: &TestApp) -> Value {
    app.admin().get(INTERNAL).await.json()
}

#[tokio::test]
async fn changed_settings_are_returned() {
    let app = TestApp::start().await;
    let top = json!({
        "display_name": "Notes", "description": "Writes things down", "is_production_mode": true,
        "onboarding_status": "domain_setup", "logo_url": "https://a.test/1",
        "logo_full_url": "https://a.test/2", "logo_dark_mode_url": "https://a.test/3", "logo_full_dark_mode_url": "http://a.test/4",
    });
    let config = json!({
        "sign_up_enabled": false, "credential_enabled": false, "magic_link_enabled": false, "passkey_enabled": true,
        "passkey_rp_ids": ["example.com"], "passkey_user_verification": "required", "passkey_replaces_second_factor": true,
        "client_team_creation_enabled": true, "client_user_deletion_enabled": true, "allow_user_api_keys": false,
        "allow_team_api_keys": false, "allow_localhost": false, "create_team_on_sign_up": true, "require_email_verification": true,
        "require_publishable_client_key": true, "oauth_account_merge_strategy": "raise_error", "password_min_length": 12,
        "session_max_age_seconds": 86_400, "session_max_idle_seconds": 300,
        "domains": [{ "domain": "https://*.example.com", "handler_path": "/auth" }],
        "email_config": {
            "type": "standard", "sender_name": "Notes", "sender_email": "notes@example.com",
            "host": "", "port": 0, "username": "", "password": "",
        },
    });
    let mut patch = top.clone();
    patch["config"] = config.clone();
    let answer = app.admin().patch(INTERNAL, patch).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let now = project(&app).await;
    assert_eq!(answer.json(), now);
    for (name, value) in top.as_object().unwrap() {
        assert_eq!(&now[name], value, "{name}");
    }
    for (name, value) in config.as_object().unwrap() {
        assert_eq!(&now["config"][name], value, "{name}");
    }
}

#[tokio::test]
async fn switches_stored_before_their_features_existed_have_no_effect() {
    let app = TestApp::start().await;
    let key = (format!("P#{}", app.project_id()), "PROJECT".to_owned());
    let update = UpdateItemInput::builder().table_name(app.app.store.table());
    let update = update.key("pk", AttributeValue::S(key.0.clone())).key("sk", AttributeValue::S(key.1.clone()));
    let update = update.update_expression("SET d.config.passkey_enabled = :on, d.config.allow_user_api_keys = :on");
    app.app.store.client().call(update.expression_attribute_values(":on", AttributeValue::Bool(true))).await.unwrap();
    assert_eq!(app.table()[&key]["d"]["M"]["config"]["M"]["passkey_enabled"]["BOOL"], true);
    let config = app.client().get("/api/v1/projects/current").await.json()["config"].clone();
    assert_eq!((&config["passkey_enabled"], &config["allow_user_api_keys"]), (&json!(false), &json!(false)));
    let values = json!({ "config_override_string": "{\"teams.allowClientTeamCreation\":true}" });
    assert_eq!(app.admin().patch("/api/v1/internal/config/override/branch", values).await.status(), 200);
    assert_eq!(project(&app).await["config"]["client_team_creation_enabled"], true);
}

#[tokio::test]
async fn a_project_stored_without_an_onboarding_status_is_complete() {
    let app = TestApp::start().await;
    let key = (format!("P#{}", app.project_id()), "PROJECT".to_owned());
    let stored = || app.table()[&key]["d"]["M"].get("onboarding_status").cloned();
    assert_eq!((stored(), &project(&app).await["onboarding_status"]), (None, &json!("completed")));
    for status in
        ["config_choice", "apps_selection", "auth_setup", "domain_setup", "email_theme_setup", "payments_setup", "welcome", "completed"]
    {
        app.configure(json!({ "onboarding_status": status })).await;
        app.configure(json!({ "display_name": status })).await;
        assert_eq!(project(&app).await["onboarding_status"], status);
    }
    assert_eq!(stored(), None, "as in items of earlier versions");
}

#[tokio::test]
async fn a_mail_server_can_be_set_and_its_password_is_write_only() {
    let app = TestApp::start().await;
    let server = |fields: Value| {
        let mut server = json!({
            "type": "standard", "sender_name": "Notes", "sender_email": "notes@example.com", "host": "mail.example.com", "port": 587,
            "username": "notes",
        });
        server.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        json!({ "config": { "email_config": server } })
    };
    let refused = app.admin().patch(INTERNAL, server(json!({}))).await;
    assert_eq!(refused.status(), 400);
    assert!(refused.text().contains("body.config.email_config.password"), "{}", refused.text());
    let answer = app.admin().patch(INTERNAL, server(json!({ "password": "the-password" }))).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(answer.json()["config"]["email_config"], server(json!({ "password": "********" }))["config"]["email_config"]);
    assert!(!answer.text().contains("the-password"));
    assert!(!format!("{:?}", app.table()).contains("the-password"));
    // The settings are accepted as they were read, without the password, or with an empty password.
    for same in [json!({ "password": "********" }), json!({}), json!({ "password": "", "sender_name": "Other" })] {
        assert_eq!(app.admin().patch(INTERNAL, server(same)).await.status(), 200);
    }
    for other in [json!({ "host": "evil.example.com" }), json!({ "port": 465 }), json!({ "username": "x", "password": "********" })] {
        let refused = app.admin().patch(INTERNAL, server(other)).await;
        assert_eq!(refused.status(), 400);
        assert!(refused.text().contains("body.config.email_config.password"), "{}", refused.text());
    }
    for host in ["2001:DB8::25", "[2001:db8::25]"] {
        let set = app.admin().patch(INTERNAL, server(json!({ "host": host, "password": "the-password" }))).await;
        assert_eq!((set.status(), &set.json()["config"]["email_config"]["host"]), (200, &json!("[2001:db8::25]")), "{host}");
    }
    let refused = app.admin().patch(INTERNAL, server(json!({ "host": "2001:db8::25:x", "password": "the-password" }))).await;
    assert!(refused.text().contains("body.config.email_config.host"), "{}", refused.text());
    assert_eq!(app.admin().patch(INTERNAL, server(json!({ "sender_name": "Other", "password": "the-password" }))).await.status(), 200);
    assert_eq!(project(&app).await["config"]["email_config"]["sender_name"], "Other");
    app.configure(json!({ "config": { "email_config": { "type": "shared" } } })).await;
    assert_eq!(project(&app).await["config"]["email_config"], json!({ "type": "shared" }));
}

#[tokio::test]
async fn absent_settings_stay_and_null_clears_a_logo() {
    let app = TestApp::start().await;
    app.configure(json!({ "logo_url": "https://a.test/1", "config": { "password_min_length": 10 } })).await;
    let before = project(&app).await;
    app.configure(json!({})).await;
    app.configure(json!({ "config": {} })).await;
    assert_eq!(project(&app).await, before);
    app.configure(json!({ "logo_url": null, "description": "Notes" })).await;
    let after = project(&app).await;
    assert_eq!((&after["logo_url"], &after["config"]), (&Value::Null, &before["config"]));
    assert_eq!(after["description"], "Notes");
    app.configure(json!({ "description": null })).await;
    assert_eq!(project(&app).await["description"], "");
}

#[tokio::test]
async fn an_invalid_setting_is_reported_and_changes_nothing() {
    let app = TestApp::start().await;
    let before = project(&app).await;
    let long = "x".repeat(257);
    let wrong = [
        (json!({ "display_name": "" }), "body.display_name"),
        (json!({ "display_name": " " }), "body.display_name"),
        (json!({ "display_name": long }), "body.display_name"),
        (json!({ "display_name": "two\nlines" }), "body.display_name"),
        (json!({ "description": 1 }), "body.description"),
        (json!({ "logo_url": "nowhere" }), "body.logo_url"),
        (json!({ "logo_full_url": "javascript:alert(1)" }), "body.logo_full_url"),
        (json!({ "logo_dark_mode_url": "" }), "body.logo_dark_mode_url"),
        (json!({ "logo_full_dark_mode_url": "ftp://a.test" }), "body.logo_full_dark_mode_url"),
        (json!({ "is_production_mode": "yes" }), "body.is_production_mode"),
        (json!({ "onboarding_status": "done" }), "body.onboarding_status"),
        (json!({ "is_development_environment": true }), "body.is_development_environment"),
        (json!({ "id": "internal" }), "body.id"),
        (json!({ "config": [] }), "body.config"),
        (json!({ "config": { "nothing": 1 } }), "body.config.nothing"),
        (json!({ "config": { "sign_up_enabled": 1 } }), "body.config.sign_up_enabled"),
        (json!({ "config": { "password_min_length": 7 } }), "body.config.password_min_length"),
        (json!({ "config": { "password_min_length": 129 } }), "body.config.password_min_length"),
        (json!({ "config": { "password_min_length": -1 } }), "body.config.password_min_length"),
        (json!({ "config": { "session_max_age_seconds": 299 } }), "body.config.session_max_age_seconds"),
        (json!({ "config": { "session_max_age_seconds": 367 * 86_400 + 1 } }), "body.config.session_max_age_seconds"),
        (json!({ "config": { "session_max_idle_seconds": 0 } }), "body.config.session_max_idle_seconds"),
        (json!({ "config": { "oauth_account_merge_strategy": "guess" } }), "body.config.oauth_account_merge_strategy"),
        (json!({ "config": { "domains": [{ "domain": "app.example.com" }] } }), "body.config.domains[0].domain"),
        (json!({ "config": { "domains": [{ "domain": "https://a.test/path" }] } }), "body.config.domains[0].domain"),
        (json!({ "config": { "domains": [{ "domain": "https://u@a.test" }] } }), "body.config.domains[0].domain"),
        (json!({ "config": { "domains": [{ "domain": "https://a.test", "handler_path": "x" }] } }), "body.config.domains[0].handler_path"),
        (json!({ "config": { "domains": [{ "handler_path": "/x" }] } }), "body.config.domains[0].domain"),
        (json!({ "config": { "domains": vec![json!({ "domain": "https://a.test" }); 101] } }), "body.config.domains"),
        (json!({ "config": { "email_config": { "type": "other" } } }), "body.config.email_config.type"),
        (json!({ "config": { "email_config": {} } }), "body.config.email_config.type"),
        (json!({ "config": { "email_config": { "type": "standard" } } }), "body.config.email_config.sender_email"),
        (json!({ "config": { "email_config": { "type": "standard", "sender_email": "x" } } }), "body.config.email_config.sender_email"),
        (
            json!({ "config": { "email_config": { "type": "standard", "sender_email": "a@b.cd", "sender_name": "x\r\nBcc: y" } } }),
            "body.config.email_config.sender_name",
        ),
    ];
    for (mut patch, path) in wrong {
        // A valid setting in a request with an invalid setting is not changed either.
        if patch.get("is_production_mode").is_none() {
            patch["is_production_mode"] = json!(true);
        }
        let answer = app.admin().patch(INTERNAL, patch.clone()).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{patch} {}", answer.text());
        assert!(answer.text().contains(path), "{path} of {patch} in {}", answer.text());
        assert_eq!(project(&app).await, before, "{patch}");
    }
}

#[tokio::test]
async fn the_length_of_a_description_is_limited() {
    let app = TestApp::start().await;
    let answer = app.admin().patch(INTERNAL, json!({ "description": "x".repeat(200_000) })).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
    assert!(answer.text().contains("body.description"));
}

#[tokio::test]
async fn other_access_types_cannot_change_them() {
    let app = TestApp::start().await;
    let before = project(&app).await;
    for caller in [app.client(), app.server()] {
        let answer = caller.patch(INTERNAL, json!({ "display_name": "Mine" })).await;
        assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    }
    let other = app.another_project().await;
    let stranger = app.admin().with("x-stack-project-id", other.project_id.as_str());
    assert_eq!(stranger.patch(INTERNAL, json!({ "display_name": "Mine" })).await.code(), "INVALID_SUPER_SECRET_ADMIN_KEY");
    assert_eq!(project(&app).await, before);
    assert_eq!(app.client_of(&other).get(super::CURRENT).await.json()["display_name"], "Development");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_lose_no_settings() {
    let app = TestApp::start().await;
    for round in 0..10 {
        let name = format!("name {round}");
        let admin = app.admin();
        let (first, second) =
            tokio::join!(admin.patch(INTERNAL, json!({ "display_name": name })), admin.patch(INTERNAL, json!({ "description": name })));
        let now = project(&app).await;
        for (answer, field) in [(first, "display_name"), (second, "description")] {
            match answer.status() {
                200 => assert_eq!(now[field], json!(name), "round {round}"),
                status => assert_eq!((status, answer.header("retry-after")), (503, Some("1")), "round {round}"),
            }
        }
    }
}
