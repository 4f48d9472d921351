//! `POST /api/v1/users`.

use serde_json::{Value, json};
use support::{START, TestApp};

use super::{USERS, assert_error, create, fields, id_of, read, sign_in, update};

const BCRYPT: &str = "$2b$04$abcdefghijklmnopqrstuuJLnlzKyzTpJ3xYBvrs2n6VzMUKWDCgK";

async fn configure_github(app: &TestApp) {
    app.configure(json!({ "config": { "oauth_providers": [{ "id": "github", "client_id": "a", "client_secret": "b" }] } })).await;
}

#[tokio::test]
async fn a_user_created_from_an_empty_body_has_the_defaults() {
    let app = TestApp::start().await;
    let user = create(&app, json!({})).await;
    let start = START.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    let expected = json!({
        "id": user["id"], "primary_email": null, "primary_email_verified": false, "primary_email_auth_enabled": false,
        "display_name": null, "selected_team": null, "selected_team_id": null, "profile_image_url": null,
        "signed_up_at_millis": start, "last_active_at_millis": start, "has_password": false, "otp_auth_enabled": false,
        "passkey_auth_enabled": false, "auth_with_email": false, "requires_totp_mfa": false, "client_metadata": null,
        "client_read_only_metadata": null, "server_metadata": null, "is_anonymous": false, "is_restricted": false,
        "restricted_reason": null, "restricted_by_admin": false, "restricted_by_admin_reason": null,
        "restricted_by_admin_private_details": null, "country_code": null,
        "risk_scores": { "sign_up": { "bot": 0, "free_trial_abuse": 0 } }, "oauth_providers": [],
    });
    assert_eq!(user, expected);
    assert_eq!(read(&app, &id_of(&user)).await, expected);
}

#[tokio::test]
async fn every_field_is_stored_and_returned() {
    let app = TestApp::start().await;
    configure_github(&app).await;
    let body = json!({
        "primary_email": " Ada@Example.com ", "primary_email_verified": true, "primary_email_auth_enabled": true,
        "display_name": "Ada Lovelace", "profile_image_url": "https://example.com/ada.png", "client_metadata": { "a": { "": 1 } },
        "client_read_only_metadata": { "plan": "pro" }, "server_metadata": { "n": [1, 2.5, null] }, "password": "correct horse battery",
        "otp_auth_enabled": true, "passkey_auth_enabled": false, "is_anonymous": false, "restricted_by_admin": true,
        "restricted_by_admin_reason": "unpaid", "restricted_by_admin_private_details": "ticket 7", "country_code": " gb ",
        "risk_scores": { "sign_up": { "bot": 100, "free_trial_abuse": 3 } },
        "oauth_providers": [{ "id": "github", "account_id": "4711", "email": "ada@github.example" }],
    });
    let user = create(&app, body.clone()).await;
    for (field, value) in
        body.as_object().unwrap().iter().filter(|(field, _)| !["password", "primary_email", "country_code"].contains(&field.as_str()))
    {
        assert_eq!(&user[field], value, "{field}");
    }
    assert_eq!((&user["primary_email"], &user["country_code"]), (&json!("ada@example.com"), &json!("GB")));
    assert_eq!((&user["has_password"], &user["auth_with_email"]), (&json!(true), &json!(true)));
    assert_eq!(user["restricted_reason"], json!({ "type": "restricted_by_administrator" }));
    assert_eq!(read(&app, &id_of(&user)).await, user);
    assert_eq!(sign_in(&app, "ada@example.com", "correct horse battery").await.status(), 200);
}

#[tokio::test]
async fn a_new_user_s_address_signs_in_only_if_enabled() {
    let app = TestApp::start().await;
    let password = "correct horse battery";
    let on = json!({ "primary_email": "ada@example.com", "password": password, "primary_email_auth_enabled": true });
    let ada = create(&app, on).await;
    assert_eq!((&ada["primary_email_auth_enabled"], &ada["primary_email_verified"]), (&json!(true), &json!(false)));
    assert_eq!(sign_in(&app, "ada@example.com", password).await.json()["user_id"], ada["id"]);

    let bob = json!({ "primary_email": "bob@example.com", "password": password });
    let mut off = bob.clone();
    off["primary_email_auth_enabled"] = json!(false);
    let (bob, other) = (create(&app, bob).await, create(&app, off).await);
    assert_ne!(bob["id"], other["id"]);
    assert_eq!(bob["primary_email_auth_enabled"], json!(false));
    assert_error(&sign_in(&app, "bob@example.com", password).await, 400, "EMAIL_PASSWORD_MISMATCH");

    let switched = update(&app, &id_of(&bob), json!({ "primary_email_auth_enabled": true })).await;
    assert_eq!(switched["primary_email_auth_enabled"], json!(true));
    assert_eq!(sign_in(&app, "bob@example.com", password).await.json()["user_id"], bob["id"]);
}

#[tokio::test]
async fn a_verified_address_signs_in_by_email_to_the_same_user() {
    let app = TestApp::start().await;
    let ada = json!({
        "primary_email": "ada@example.com", "primary_email_verified": true, "primary_email_auth_enabled": true, "otp_auth_enabled": true,
    });
    let ada = create(&app, ada).await;
    assert_eq!(app.sign_in_by_mail("ada@example.com").await.user_id, id_of(&ada));
    create(&app, json!({ "primary_email": "bob@example.com", "primary_email_auth_enabled": true })).await;
    let body = json!({ "email": "bob@example.com", "callback_url": "http://localhost:3000/magic" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
}

/// A server imports all users that it has, including users in a network without public names.
#[tokio::test]
async fn a_server_brings_addresses_that_nobody_could_sign_up_with() {
    let app = TestApp::start().await;
    let password = "correct horse battery";
    for email in ["a@localhost", "a@b.c"] {
        let user = create(&app, json!({ "primary_email": email, "primary_email_auth_enabled": true, "password": password })).await;
        assert_eq!(user["primary_email"], email);
        let signed_in = sign_in(&app, &email.to_uppercase(), password).await;
        assert_eq!(signed_in.json()["user_id"], user["id"], "{email}");
        let reset = json!({ "email": email, "callback_url": "http://localhost:3000/reset" });
        assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", reset).await.status(), 200);
        let code = json!({ "code": app.last_mail(email).await.code(), "password": "another battery" });
        assert_eq!(app.client().post("/api/v1/auth/password/reset", code).await.status(), 200, "{email}");
        assert_eq!(sign_in(&app, email, "another battery").await.status(), 200, "{email}");

        // Clients cannot use these addresses at sign-up, as a channel or as the primary address.
        let own = app.sign_up(&format!("client-of-{}@example.com", email.len())).await;
        let sign_up =
            app.client().post("/api/v1/auth/password/sign-up", json!({ "email": format!("x{email}"), "password": password })).await;
        assert_eq!(fields(&sign_up), ["body.email"]);
        let channel = json!({ "user_id": "me", "value": format!("x{email}"), "type": "email", "used_for_auth": false });
        assert_eq!(fields(&app.signed_in(&own).post("/api/v1/contact-channels", channel.clone()).await), ["body.value"]);
        let me = json!({ "primary_email": format!("x{email}") });
        assert_eq!(fields(&app.signed_in(&own).patch("/api/v1/users/me", me).await), ["body.primary_email"]);
        let mut of_server = channel;
        of_server["user_id"] = user["id"].clone();
        let added = app.server().post("/api/v1/contact-channels", of_server).await;
        assert_eq!(added.status(), 201, "{}", added.text());
        let target = format!("/api/v1/contact-channels/{}/{}", id_of(&user), added.json()["id"].as_str().unwrap());
        assert_eq!(app.server().patch(&target, json!({ "value": format!("y{email}") })).await.status(), 200);
    }
    for (wrong, reason) in
        [("ada", "a name, @ and a host name"), ("a..b@localhost", "RFC 5321 §4.1.2"), ("a@127.0.0.1", "not an IP address")]
    {
        let answer = app.server().post(USERS, json!({ "primary_email": wrong })).await;
        assert_eq!(fields(&answer), ["body.primary_email"], "{wrong}");
        assert!(answer.text().contains(reason), "{}", answer.text());
    }
}

#[tokio::test]
async fn an_address_used_for_sign_in_is_taken() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let shouted = json!({ "primary_email": "ADA@example.com", "primary_email_auth_enabled": true });
    let answer = app.server().post(USERS, shouted.clone()).await;
    let details = assert_error(&answer, 409, "USER_EMAIL_ALREADY_EXISTS");
    assert_eq!(details, json!({ "email": "ada@example.com", "would_work_if_email_was_verified": false }));
    assert_eq!(answer.header("x-stack-known-error"), Some("USER_EMAIL_ALREADY_EXISTS"));
    assert_eq!(app.server().get(USERS).await.json()["items"].as_array().unwrap().len(), 1);
    // The address is available in another project.
    let other = app.another_project().await;
    assert_eq!(app.server_of(&other).post(USERS, shouted).await.status(), 201);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_fifty_concurrent_creations_with_an_address_one_succeeds() {
    let app = TestApp::start().await;
    let body = json!({ "primary_email": "ada@example.com", "primary_email_auth_enabled": true });
    let requests: Vec<_> = (0..50)
        .map(|_| {
            let (server, body) = (app.server(), body.clone());
            tokio::spawn(async move { server.post(USERS, body).await })
        })
        .collect();
    let mut statuses = Vec::new();
    for request in requests {
        let answer = request.await.unwrap();
        statuses.push(if answer.status() == 409 { answer.code() } else { answer.status().to_string() });
    }
    assert_eq!(statuses.iter().filter(|status| *status == "201").count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| *status == "USER_EMAIL_ALREADY_EXISTS").count(), 49, "{statuses:?}");
    assert_eq!(app.server().get(USERS).await.json()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_provider_account_signs_in_one_user() {
    let app = TestApp::start().await;
    let accounts = |account: &str| json!({ "oauth_providers": [{ "id": "github", "account_id": account }] });
    assert_error(&app.server().post(USERS, accounts("1")).await, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
    configure_github(&app).await;
    let ada = create(&app, accounts("1")).await;
    assert_eq!(ada["oauth_providers"], json!([{ "id": "github", "account_id": "1", "email": null }]));
    assert_error(&app.server().post(USERS, accounts("1")).await, 400, "OAUTH_PROVIDER_ACCOUNT_ID_ALREADY_USED_FOR_SIGN_IN");
    create(&app, accounts("2")).await;
    // Once the user of a provider account is deleted, the account can belong to a new user.
    assert_eq!(app.server().delete(&super::path(id_of(&ada))).await.status(), 200);
    create(&app, accounts("1")).await;

    let twice = json!({ "oauth_providers": [{ "id": "github", "account_id": "3" }, { "id": "github", "account_id": "3" }] });
    assert_eq!(fields(&app.server().post(USERS, twice).await), ["body.oauth_providers"]);
    let more: Vec<Value> = (0..21).map(|n| json!({ "id": "github", "account_id": format!("m{n}") })).collect();
    assert_eq!(fields(&app.server().post(USERS, json!({ "oauth_providers": more })).await), ["body.oauth_providers"]);
}

#[tokio::test]
async fn all_problems_of_a_body_are_reported() {
    let app = TestApp::start().await;
    let body = json!({
        "primary_email": "", "display_name": "x".repeat(257), "profile_image_url": "http://example.com/a.png", "client_metadata": "x".repeat(32 * 1024),
        "selected_team_id": null, "otp_auth_enabled": "yes", "passkey_auth_enabled": true, "password": 1, "password_hash": "plain",
        "is_anonymous": 1, "restricted_by_admin_reason": "x".repeat(4097), "country_code": "GBR", "nonsense": 1,
        "risk_scores": { "sign_up": { "bot": 101, "free_trial_abuse": -1 } }, "oauth_providers": [{ "id": "github" }],
        "server_metadata": { "k": "x".repeat(32 * 1024) },
    });
    let answer = app.server().post(USERS, body).await;
    let mut expected = [
        "primary_email",
        "display_name",
        "profile_image_url",
        "client_metadata",
        "selected_team_id",
        "otp_auth_enabled",
        "passkey_auth_enabled",
        "password",
        "password_hash",
        "is_anonymous",
        "restricted_by_admin_reason",
        "country_code",
        "nonsense",
        "risk_scores.sign_up.bot",
        "risk_scores.sign_up.free_trial_abuse",
        "oauth_providers[0].account_id",
        "server_metadata",
    ]
    .map(|field| format!("body.{field}"));
    expected.sort();
    assert_eq!(fields(&answer), expected);
    assert_eq!(app.server().get(USERS).await.json()["items"], json!([]));
    for body in ["null", "[]", "\"text\"", ""] {
        let answer = app.server().request("POST", USERS).header("content-type", "application/json").body(body).send().await;
        assert_error(&answer, 400, "SCHEMA_ERROR");
    }
}

#[tokio::test]
async fn mutually_exclusive_fields_are_rejected() {
    let app = TestApp::start().await;
    let both = json!({ "password": "correct horse battery", "password_hash": BCRYPT });
    assert_eq!(fields(&app.server().post(USERS, both).await), ["body.password_hash"]);
    for body in [json!({ "restricted_by_admin_reason": "x" }), json!({ "restricted_by_admin": false, "restricted_by_admin_reason": "x" })] {
        assert_eq!(fields(&app.server().post(USERS, body).await), ["body.restricted_by_admin_reason"]);
    }
    let answer = app.server().post(USERS, json!({ "restricted_by_admin_private_details": "x" })).await;
    assert_eq!(fields(&answer), ["body.restricted_by_admin_private_details"]);
    for body in [json!({ "primary_email_verified": true }), json!({ "primary_email_auth_enabled": true, "primary_email": null })] {
        let answer = app.server().post(USERS, body).await;
        assert_error(&answer, 400, "PRIMARY_EMAIL_REQUIRED");
        assert_eq!(answer.header("x-stack-known-error"), None, "the code is not one of the SDKs'");
    }
}

#[tokio::test]
async fn a_sign_in_method_must_be_enabled_in_the_project() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "credential_enabled": false, "magic_link_enabled": false } })).await;
    for body in [json!({ "password": "correct horse battery" }), json!({ "password_hash": BCRYPT })] {
        assert_error(&app.server().post(USERS, body).await, 400, "PASSWORD_AUTHENTICATION_NOT_ENABLED");
    }
    assert_error(&app.server().post(USERS, json!({ "otp_auth_enabled": true })).await, 403, "MAGIC_LINK_NOT_ENABLED");
    create(&app, json!({ "password": null, "otp_auth_enabled": false })).await;
}

#[tokio::test]
async fn a_server_can_create_an_anonymous_user() {
    let app = TestApp::start().await;
    let user = create(&app, json!({ "is_anonymous": true })).await;
    assert_eq!((&user["is_anonymous"], &user["restricted_reason"]), (&json!(true), &json!({ "type": "anonymous" })));
    app.advance(jiff::SignedDuration::from_secs(60));
    let upgraded = update(&app, &id_of(&user), json!({ "is_anonymous": false, "primary_email": "ada@example.com" })).await;
    assert_eq!((&upgraded["is_anonymous"], &upgraded["is_restricted"]), (&json!(false), &json!(false)));
    assert_eq!(upgraded["signed_up_at_millis"].as_i64().unwrap() - user["signed_up_at_millis"].as_i64().unwrap(), 60_000);
    assert_eq!(fields(&app.server().patch(&super::path(id_of(&user)), json!({ "is_anonymous": true })).await), ["body.is_anonymous"]);
}

#[tokio::test]
async fn only_servers_can_create_users() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for client in [app.client(), app.signed_in(&ada)] {
        let details = assert_error(&client.post(USERS, json!({})).await, 403, "INSUFFICIENT_ACCESS_TYPE");
        assert_eq!(details["allowed_access_types"], json!(["server", "admin"]));
    }
    assert_error(&app.anonymous().post(USERS, json!({})).await, 401, "ACCESS_TYPE_REQUIRED");
    assert_error(
        &app.server().with("x-stack-secret-server-key", "ssk_wrong").post(USERS, json!({})).await,
        401,
        "INVALID_SECRET_SERVER_KEY",
    );
    assert_eq!(app.admin().post(USERS, json!({ "display_name": "Grace" })).await.status(), 201);
    assert_eq!(app.server().get(USERS).await.json()["items"].as_array().unwrap().len(), 2);
}
