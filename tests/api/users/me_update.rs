//! `PATCH /api/v1/users/me`.

use serde_json::{Value, json};
use support::TestApp;

use super::{ME, assert_error, fields, read, sign_in};
use crate::stored;

#[tokio::test]
async fn a_client_can_change_its_own_fields() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let body = json!({
        "display_name": "Ada", "profile_image_url": "https://example.com/ada.png", "client_metadata": { "theme": "dark" },
        "otp_auth_enabled": true, "passkey_auth_enabled": false, "primary_email": "new@example.com", "selected_team_id": null,
    });
    let answer = app.signed_in(&ada).patch(ME, body.clone()).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let me = answer.json();
    for (field, value) in body.as_object().unwrap() {
        assert_eq!(&me[field], value, "{field}");
    }
    assert!(me.get("server_metadata").is_none(), "a client only reads client fields");
    assert_eq!(app.signed_in(&ada).get(ME).await.json(), me);
    assert_eq!(read(&app, &ada.user_id).await["display_name"], "Ada");
}

#[tokio::test]
async fn server_fields_are_rejected_for_clients_one_by_one() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let before = read(&app, &ada.user_id).await;
    let servers = json!({
        "client_read_only_metadata": {}, "server_metadata": {}, "primary_email_verified": true, "primary_email_auth_enabled": true,
        "password": "another password", "password_hash": "x", "is_anonymous": false, "restricted_by_admin": false,
        "restricted_by_admin_reason": null, "restricted_by_admin_private_details": null, "country_code": "GB",
        "risk_scores": { "sign_up": { "bot": 1, "free_trial_abuse": 1 } }, "oauth_providers": [],
    });
    let mut body = servers.clone();
    body["display_name"] = json!(7);
    let answer = app.signed_in(&ada).patch(ME, body).await;
    let mut expected: Vec<String> = servers.as_object().unwrap().keys().map(|field| format!("body.{field}")).collect();
    expected.push("body.display_name".to_owned());
    expected.sort();
    assert_eq!(fields(&answer), expected);
    assert_eq!(read(&app, &ada.user_id).await, before);
    assert_eq!(sign_in(&app, "ada@example.com", "correct horse battery").await.status(), 200);
}

#[tokio::test]
async fn a_server_can_change_server_fields_of_the_token_s_user() {
    let app = TestApp::start().await;
    for (caller, email) in [(app.server(), "ada@example.com"), (app.admin(), "bob@example.com")] {
        let user = app.sign_up(email).await;
        let body = json!({ "server_metadata": { "a": 1 }, "country_code": "GB", "primary_email_verified": true });
        let me = caller.with("x-stack-access-token", &user.access_token).patch(ME, body.clone()).await.json();
        for (field, value) in body.as_object().unwrap() {
            assert_eq!(&me[field], value, "{field}");
        }
        assert_eq!(read(&app, &user.user_id).await, me);
    }
}

#[tokio::test]
async fn an_update_requires_a_user() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for caller in [app.client(), app.server(), app.admin()] {
        assert_error(&caller.patch(ME, json!({ "display_name": "Eve" })).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    }
    assert_error(&app.anonymous().patch(ME, json!({})).await, 401, "ACCESS_TYPE_REQUIRED");
    stored::delete_user(&app, &ada).await;
    assert_error(&app.signed_in(&ada).patch(ME, json!({ "display_name": "Eve" })).await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_error(&app.server().get(&super::path(&ada.user_id)).await, 404, "USER_NOT_FOUND");
}

#[tokio::test]
async fn a_body_must_be_an_object() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for body in ["null", "[]", "1", ""] {
        let answer = app.signed_in(&ada).request("PATCH", ME).header("content-type", "application/json").body(body).send().await;
        assert_error(&answer, 400, "SCHEMA_ERROR");
    }
    assert_eq!(app.signed_in(&ada).patch(ME, json!({})).await.status(), 200);
}

#[tokio::test]
async fn an_address_of_another_user_cannot_be_taken() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    // The address stays pending until its owner verifies it.
    let answer = app.signed_in(&bob).patch(ME, json!({ "primary_email": "ada@example.com" })).await;
    assert_eq!((answer.status(), &answer.json()["primary_email_verified"]), (200, &json!(false)));
    assert_eq!(sign_in(&app, "ada@example.com", "correct horse battery").await.json()["user_id"], ada.user_id.as_str());
    assert_eq!(sign_in(&app, "bob@example.com", "correct horse battery").await.json()["user_id"], bob.user_id.as_str());
}

#[tokio::test]
async fn changing_to_an_address_does_not_verify_it() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let me = app.signed_in(&ada).patch(ME, json!({ "primary_email": "boss@example.com" })).await.json();
    assert_eq!((&me["primary_email"], &me["primary_email_verified"]), (&json!("boss@example.com"), &json!(false)));
    let back = app.signed_in(&ada).patch(ME, json!({ "primary_email": "ada@example.com" })).await.json();
    assert_eq!(back["primary_email_verified"], true, "the old address is still verified");
}

#[tokio::test]
async fn a_client_without_an_address_cannot_block_one() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "anonymous_creation_enabled": true } })).await;
    let visitor = stored::anonymous_user(&app).await;
    let caller = app.signed_in(&visitor).with("x-stack-allow-anonymous-user", "true");
    assert_eq!(caller.patch(ME, json!({ "primary_email": "ada@example.com" })).await.json()["primary_email"], "ada@example.com");
    assert_eq!(read(&app, &visitor.user_id).await["primary_email_auth_enabled"], false);
    app.sign_up("ada@example.com").await;
}

#[tokio::test]
async fn a_sign_in_method_must_be_enabled_in_the_project() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "magic_link_enabled": false } })).await;
    assert_error(&app.signed_in(&ada).patch(ME, json!({ "otp_auth_enabled": true })).await, 403, "MAGIC_LINK_NOT_ENABLED");
    assert_eq!(fields(&app.signed_in(&ada).patch(ME, json!({ "passkey_auth_enabled": true })).await), ["body.passkey_auth_enabled"]);
    assert_eq!(app.signed_in(&ada).patch(ME, json!({ "otp_auth_enabled": false })).await.status(), 200);
}

#[tokio::test]
async fn the_next_token_has_the_new_name() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.signed_in(&ada).patch(ME, json!({ "display_name": "Ada Lovelace" })).await;
    let token = super::refresh(&app, &ada).await.json()["access_token"].as_str().unwrap().to_owned();
    let claims: Value = serde_json::from_slice(
        &base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, token.split('.').nth(1).unwrap()).unwrap(),
    )
    .unwrap();
    assert_eq!(claims["name"], "Ada Lovelace");
}
