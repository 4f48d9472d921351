//! `GET` and `PATCH /api/v1/users/{user_id}`.

use serde_json::{Value, json};
use support::TestApp;

use super::{USERS, assert_error, create, fields, id_of, path, read, sign_in, update};
use crate::stored;

const NOBODY: &str = "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21";

#[tokio::test]
async fn a_single_user_is_found_whatever_the_filters_of_the_list_say() {
    let app = TestApp::start().await;
    let visitor = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let url = format!("{}?include_anonymous=false&include_restricted=true&limit=1", path(visitor["user_id"].as_str().unwrap()));
    assert_eq!(app.server().get(&url).await.json()["is_anonymous"], true);
    assert_eq!(app.server().patch(&url, json!({ "display_name": "Ada" })).await.json()["display_name"], "Ada");
    let wrong = app.server().get(&format!("{}?include_anonymous=maybe", path(visitor["user_id"].as_str().unwrap()))).await;
    assert_error(&wrong, 400, "SCHEMA_ERROR");
    assert_eq!(app.server().delete(&url).await.status(), 200);
}

#[tokio::test]
async fn absent_fields_stay_and_null_clears() {
    let app = TestApp::start().await;
    let full = json!({
        "display_name": "Ada", "profile_image_url": "https://example.com/a.png", "client_metadata": { "a": 1 },
        "client_read_only_metadata": { "b": 2 }, "server_metadata": { "c": 3 }, "country_code": "GB",
    });
    let ada = create(&app, full.clone()).await;
    let id = id_of(&ada);
    assert_eq!(update(&app, &id, json!({})).await, ada);
    // Metadata is replaced completely.
    let changed = update(&app, &id, json!({ "client_metadata": { "z": 26 } })).await;
    assert_eq!((&changed["client_metadata"], &changed["server_metadata"]), (&json!({ "z": 26 }), &json!({ "c": 3 })));
    assert_eq!(read(&app, &id).await, changed);

    let nothing: serde_json::Map<String, Value> = full.as_object().unwrap().keys().map(|field| (field.clone(), Value::Null)).collect();
    let cleared = update(&app, &id, Value::Object(nothing.clone())).await;
    for field in nothing.keys() {
        assert_eq!(cleared[field], Value::Null, "{field}");
    }
    assert_eq!(read(&app, &id).await, cleared);
    for empty in ["", "  "] {
        update(&app, &id, json!({ "display_name": "Ada" })).await;
        assert_eq!(update(&app, &id, json!({ "display_name": empty })).await["display_name"], Value::Null);
    }
}

#[tokio::test]
async fn an_unknown_user_is_not_found() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let ada = app.sign_up("ada@example.com").await;
    for (server, id) in [(app.server(), NOBODY), (app.server_of(&other), &ada.user_id)] {
        for method in ["GET", "PATCH", "DELETE"] {
            let answer = server.request(method, &path(id)).json(&json!({})).send().await;
            assert_error(&answer, 404, "USER_NOT_FOUND");
            assert_eq!(answer.header("x-stack-known-error"), Some("USER_NOT_FOUND"));
        }
    }
    assert_eq!(app.server().get(&path("nobody")).await.code(), "SCHEMA_ERROR");
    assert_eq!(read(&app, &ada.user_id).await["id"], ada.user_id.as_str());
}

#[tokio::test]
async fn me_means_the_user_of_the_token() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    // The encoded spelling leads to the operations for any user instead of the operations for `me`,
    // but the result is the same.
    for me in [path("me"), path("%6de")] {
        let server = app.server().with("x-stack-access-token", &ada.access_token);
        assert_eq!(server.get(&me).await.json()["id"], ada.user_id.as_str());
        assert_eq!(server.patch(&me, json!({ "server_metadata": { "me": me } })).await.status(), 200);
        assert_eq!(read(&app, &ada.user_id).await["server_metadata"], json!({ "me": me }));
        assert_error(&app.server().get(&me).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
        assert_error(&app.server().patch(&me, json!({})).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    }
}

#[tokio::test]
async fn only_servers_can_read_and_change_any_user() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    for id in [&ada.user_id, &bob.user_id] {
        for method in ["GET", "PATCH", "DELETE"] {
            let answer = app.signed_in(&ada).request(method, &path(id)).json(&json!({ "display_name": "Eve" })).send().await;
            assert_error(&answer, 403, "INSUFFICIENT_ACCESS_TYPE");
        }
        assert_eq!(read(&app, id).await["display_name"], Value::Null);
        assert_eq!(app.admin().get(&path(id)).await.json()["id"], id.as_str());
    }
}

#[tokio::test]
async fn a_new_primary_address_signs_in_beside_the_old_one() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let new = update(&app, &ada.user_id, json!({ "primary_email": "New@example.com" })).await;
    assert_eq!((&new["primary_email"], &new["primary_email_verified"]), (&json!("new@example.com"), &json!(false)));
    for email in ["ada@example.com", "new@example.com"] {
        assert_eq!(sign_in(&app, email, "correct horse battery").await.json()["user_id"], ada.user_id.as_str());
    }
    // The primary address can be changed back and removed.
    assert_eq!(update(&app, &ada.user_id, json!({ "primary_email": "ada@example.com" })).await["primary_email"], "ada@example.com");
    let none = update(&app, &ada.user_id, json!({ "primary_email": null })).await;
    assert_eq!((&none["primary_email"], &none["primary_email_auth_enabled"]), (&Value::Null, &json!(false)));
    assert_eq!(sign_in(&app, "ada@example.com", "correct horse battery").await.status(), 200, "the address is kept as a channel");
}

#[tokio::test]
async fn changes_to_an_address_release_and_claim_it() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let taken = app.server().patch(&path(&bob.user_id), json!({ "primary_email": "ada@example.com" })).await;
    assert_eq!(assert_error(&taken, 409, "USER_EMAIL_ALREADY_EXISTS")["email"], "ada@example.com");
    assert_eq!(read(&app, &bob.user_id).await["primary_email"], "bob@example.com");
    update(&app, &ada.user_id, json!({ "primary_email_auth_enabled": false })).await;
    assert_error(&sign_in(&app, "ada@example.com", "correct horse battery").await, 400, "EMAIL_PASSWORD_MISMATCH");
    update(&app, &bob.user_id, json!({ "primary_email": "ada@example.com" })).await;
    assert_eq!(sign_in(&app, "ada@example.com", "correct horse battery").await.json()["user_id"], bob.user_id.as_str());
    let back = app.server().patch(&path(&ada.user_id), json!({ "primary_email_auth_enabled": true })).await;
    assert_error(&back, 409, "USER_EMAIL_ALREADY_EXISTS");
    assert_eq!(read(&app, &ada.user_id).await["primary_email_auth_enabled"], false);
}

#[tokio::test]
async fn a_server_can_verify_and_unverify_an_address() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(update(&app, &ada.user_id, json!({ "primary_email_verified": true })).await["primary_email_verified"], true);
    assert_eq!(app.sign_in_by_mail("ada@example.com").await.user_id, ada.user_id);
    update(&app, &ada.user_id, json!({ "primary_email_verified": false })).await;
    assert_eq!(read(&app, &ada.user_id).await["primary_email_verified"], false);
    // The owner proves the address, which removes the old password.
    app.sign_in_by_mail("ada@example.com").await;
    let password = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let answer = app.client().post("/api/v1/auth/password/sign-in", password).await;
    assert_error(&answer, 400, "EMAIL_PASSWORD_MISMATCH");
}

#[tokio::test]
async fn address_fields_require_an_address() {
    let app = TestApp::start().await;
    let user = create(&app, json!({})).await;
    for field in ["primary_email_verified", "primary_email_auth_enabled"] {
        assert_error(&app.server().patch(&path(id_of(&user)), json!({ field: true })).await, 400, "PRIMARY_EMAIL_REQUIRED");
    }
    assert_eq!(fields(&app.server().patch(&path(id_of(&user)), json!({ "primary_email": "" })).await), ["body.primary_email"]);
    assert_eq!(read(&app, &id_of(&user)).await, user);
}

#[tokio::test]
async fn an_unknown_team_cannot_be_selected() {
    let app = TestApp::start().await;
    let user = create(&app, json!({})).await;
    let id = id_of(&user);
    assert_eq!(update(&app, &id, json!({ "selected_team_id": null })).await, user);
    let details =
        assert_error(&app.server().patch(&path(&id), json!({ "selected_team_id": NOBODY })).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
    assert_eq!(details, json!({ "team_id": NOBODY, "user_id": id }));
    assert_eq!(fields(&app.server().patch(&path(&id), json!({ "selected_team_id": "x" })).await), ["body.selected_team_id"]);
    assert_eq!(fields(&app.server().patch(&path(&id), json!({ "oauth_providers": [] })).await), ["body.oauth_providers"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_changes_are_all_kept() {
    let app = TestApp::start().await;
    let id = id_of(&create(&app, json!({})).await);
    let path = path(&id);
    let server = app.server();
    let send = |body: Value| server.patch(&path, body);
    let answers = tokio::join!(
        send(json!({ "display_name": "Ada" })),
        send(json!({ "client_metadata": { "a": 1 } })),
        send(json!({ "server_metadata": { "b": 2 } })),
        send(json!({ "country_code": "GB" })),
    );
    for answer in [answers.0, answers.1, answers.2, answers.3] {
        assert_eq!(answer.status(), 200, "{}", answer.text());
    }
    let user = read(&app, &id).await;
    assert_eq!((&user["display_name"], &user["country_code"]), (&json!("Ada"), &json!("GB")));
    assert_eq!((&user["client_metadata"], &user["server_metadata"]), (&json!({ "a": 1 }), &json!({ "b": 2 })));
}

#[tokio::test]
async fn a_rejected_change_changes_nothing() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let bob = create(&app, json!({ "display_name": "Bob" })).await;
    let body = json!({
        "display_name": "Eve", "password": "correct horse battery", "primary_email": "ada@example.com", "primary_email_auth_enabled": true,
    });
    assert_error(&app.server().patch(&path(id_of(&bob)), body).await, 409, "USER_EMAIL_ALREADY_EXISTS");
    assert_eq!(read(&app, &id_of(&bob)).await, bob);
}

#[tokio::test]
async fn operations_on_a_user_take_at_most_three_round_trips() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    stored::change_user(&app, &ada, |user| user.display_name = Some("Ada".to_owned())).await;
    for (method, target, body) in [
        ("POST", USERS.to_owned(), json!({ "primary_email": "bob@example.com", "primary_email_auth_enabled": true })),
        ("GET", path(&ada.user_id), json!({})),
        ("PATCH", path(&ada.user_id), json!({ "primary_email": "new@example.com" })),
        ("DELETE", path(&ada.user_id), json!({})),
    ] {
        app.recorder.clear();
        let answer = app.server().request(method, &target).json(&body).send().await;
        assert!(answer.status() < 300, "{}", answer.text());
        // A deletion's query for the user, the memberships and the sessions is not counted.
        let trips = app.recorder.calls().iter().filter(|(operation, _)| operation != "Query").count();
        assert!(trips <= 3, "{method}: {:?}", app.recorder.calls());
    }
}
