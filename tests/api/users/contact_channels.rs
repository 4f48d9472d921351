//! `/api/v1/contact-channels` and `/api/v1/contact-channels/{user_id}/{contact_channel_id}`.

use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Answer, Caller, SignedInUser, TestApp};

pub(super) const PATH: &str = "/api/v1/contact-channels";

#[track_caller]
pub(super) fn assert_error(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
}

pub(super) fn new(user: &str, value: &str) -> Value {
    json!({ "user_id": user, "value": value, "type": "email", "used_for_auth": false })
}

/// Adds a channel, and returns it.
pub(super) async fn add(caller: &Caller, body: Value) -> Value {
    let answer = caller.post(PATH, body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()
}

/// The channels of a user, as servers see them.
pub(super) async fn channels(app: &TestApp, user: &str) -> Vec<Value> {
    let answer = app.server().get(&format!("{PATH}?user_id={user}")).await;
    assert_eq!((answer.status(), &answer.json()["is_paginated"]), (200, &json!(false)), "{}", answer.text());
    answer.json()["items"].as_array().unwrap().clone()
}

fn path_of(channel: &Value) -> String {
    format!("{PATH}/{}/{}", channel["user_id"].as_str().unwrap(), channel["id"].as_str().unwrap())
}

fn values(channels: &[Value]) -> Vec<&str> {
    channels.iter().map(|channel| channel["value"].as_str().unwrap()).collect()
}

async fn primary_email(app: &TestApp, user: &SignedInUser) -> Value {
    app.signed_in(user).get("/api/v1/users/me").await.json()["primary_email"].clone()
}

/// Signs up Ada, and returns the session, a caller with the session, and the channel.
async fn ada(app: &TestApp) -> (SignedInUser, Caller, Value) {
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    let channel = channels(app, &ada.user_id).await.remove(0);
    (ada, caller, channel)
}

#[tokio::test]
async fn channels_can_be_added_read_changed_and_removed() {
    let app = TestApp::start().await;
    let (ada, caller, first) = ada(&app).await;
    let added = add(&caller, new("me", " Ada@Work.Example ")).await;
    let expected = json!({
        "user_id": ada.user_id, "id": added["id"], "value": "ada@work.example", "type": "email",
        "used_for_auth": false, "is_verified": false, "is_primary": false,
    });
    assert_eq!(added, expected);
    let path = format!("{PATH}/me/{}", added["id"].as_str().unwrap());
    assert_eq!(caller.get(&path).await.json(), expected);
    assert_eq!(channels(&app, &ada.user_id).await, [first.clone(), expected]);
    let one = caller.get(&format!("{PATH}?user_id=me&contact_channel_id={}", added["id"].as_str().unwrap())).await.json();
    assert_eq!(one["items"], json!([added]));

    let changed = caller.patch(&path, json!({ "is_primary": true, "used_for_auth": true })).await;
    assert_eq!((changed.status(), &changed.json()["is_primary"], &changed.json()["used_for_auth"]), (200, &json!(true), &json!(true)));
    assert_eq!(primary_email(&app, &ada).await, "ada@work.example");
    assert_eq!(caller.get(&path_of(&first)).await.json()["is_primary"], false);

    let deleted = caller.delete(&path).await;
    assert_eq!((deleted.status(), deleted.json()), (200, json!({ "success": true })));
    assert_eq!(channels(&app, &ada.user_id).await.len(), 1);
    for answer in [caller.get(&path).await, caller.patch(&path, json!({})).await, caller.delete(&path).await] {
        assert_error(&answer, 404, "CONTACT_CHANNEL_NOT_FOUND");
    }
}

#[tokio::test]
async fn a_client_only_accesses_its_own_channels() {
    let app = TestApp::start().await;
    let (ada, caller, channel) = ada(&app).await;
    let bob = app.signed_in(&app.sign_up("bob@example.com").await);
    let path = path_of(&channel);
    let answers = [
        bob.get(&format!("{PATH}?user_id={}", ada.user_id)).await,
        bob.get(PATH).await,
        bob.post(PATH, new(&ada.user_id, "eve@example.com")).await,
        bob.get(&path).await,
        bob.patch(&path, json!({ "used_for_auth": false })).await,
        bob.delete(&path).await,
        bob.post(&format!("{path}/send-verification-code"), json!({ "callback_url": "http://localhost/" })).await,
        app.client().get(&format!("{PATH}?user_id={}", ada.user_id)).await,
    ];
    for answer in answers {
        assert_error(&answer, 403, "FORBIDDEN");
    }
    // Paths with `me` lead only to the caller's channels.
    let own = format!("{PATH}/me/{}", channel["id"].as_str().unwrap());
    assert_error(&bob.get(&own).await, 404, "CONTACT_CHANNEL_NOT_FOUND");
    assert_error(&bob.delete(&own).await, 404, "CONTACT_CHANNEL_NOT_FOUND");
    assert_error(&app.client().get(&own).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_eq!(caller.get(&own).await.json(), channel);
}

#[tokio::test]
async fn only_a_server_can_set_verified() {
    let app = TestApp::start().await;
    let (ada, caller, channel) = ada(&app).await;
    let mut body = new("me", "ada@work.example");
    body["is_verified"] = json!(true);
    for answer in [caller.post(PATH, body.clone()).await, caller.patch(&path_of(&channel), json!({ "is_verified": true })).await] {
        assert_error(&answer, 400, "SCHEMA_ERROR");
        assert!(answer.text().contains("body.is_verified"), "{}", answer.text());
    }
    assert_eq!(channels(&app, &ada.user_id).await, std::slice::from_ref(&channel));

    body["user_id"] = json!(ada.user_id);
    assert_eq!(add(&app.server(), body).await["is_verified"], true);
    let verified = app.server().patch(&path_of(&channel), json!({ "is_verified": true })).await;
    assert_eq!(verified.json()["is_verified"], true);
    // The server verified the address, so it can now be used to sign in by email.
    assert_eq!(app.sign_in_by_mail("ada@example.com").await.user_id, ada.user_id);
}

#[tokio::test]
async fn a_changed_value_requires_verification_and_replaces_the_old_one() {
    let app = TestApp::start().await;
    let (ada, caller, channel) = ada(&app).await;
    app.server().patch(&path_of(&channel), json!({ "is_verified": true })).await;
    let same = caller.patch(&path_of(&channel), json!({ "value": "ADA@example.com" })).await;
    assert_eq!(same.json()["is_verified"], true);
    let other = caller.patch(&path_of(&channel), json!({ "value": "ada@work.example" })).await;
    assert_eq!((other.status(), &other.json()["is_verified"], &other.json()["used_for_auth"]), (200, &json!(false), &json!(true)));
    // The old address was verified, so the new address must be verified before it can be used to
    // sign in.
    let sign_in = json!({ "email": "ada@work.example", "password": "correct horse battery" });
    assert_error(&app.client().post("/api/v1/auth/password/sign-in", sign_in).await, 400, "EMAIL_PASSWORD_MISMATCH");
    app.server().patch(&path_of(&channel), json!({ "is_verified": true })).await;
    assert_eq!(app.sign_in("ada@work.example").await.user_id, ada.user_id);
    // Another user may claim the old address.
    assert_ne!(app.sign_up("ada@example.com").await.user_id, ada.user_id);
    let given = app.server().patch(&path_of(&channel), json!({ "value": "ada@home.example", "is_verified": true })).await;
    assert_eq!(given.json()["is_verified"], true);
}

#[tokio::test]
async fn values_are_unique_per_user_with_at_most_fifty_channels() {
    let app = TestApp::start().await;
    let (ada, caller, first) = ada(&app).await;
    assert_error(&caller.post(PATH, new("me", "ADA@example.com")).await, 409, "CONTACT_CHANNEL_ALREADY_EXISTS");
    let second = add(&caller, new("me", "ada@work.example")).await;
    let answer = caller.patch(&path_of(&second), json!({ "value": "ada@example.com" })).await;
    assert_error(&answer, 409, "CONTACT_CHANNEL_ALREADY_EXISTS");
    assert_eq!(answer.header("x-stack-known-error"), None);
    for number in 2..50 {
        add(&caller, new("me", &format!("ada{number}@example.com"))).await;
    }
    let full = caller.post(PATH, new("me", "one-more@example.com")).await;
    assert_error(&full, 400, "TOO_MANY_CONTACT_CHANNELS");
    assert_eq!(full.json()["details"], json!({ "max": 50 }));
    caller.delete(&path_of(&first)).await;
    add(&caller, new("me", "one-more@example.com")).await;
    assert_eq!(channels(&app, &ada.user_id).await.len(), 50);
}

#[tokio::test]
async fn an_address_signs_in_one_user_but_many_can_have_it() {
    let app = TestApp::start().await;
    let (ada, _, channel) = ada(&app).await;
    let bob = app.sign_up("bob@example.com").await;
    let caller = app.signed_in(&bob);
    let own = channels(&app, &bob.user_id).await.remove(0);
    let taken = caller.patch(&path_of(&own), json!({ "value": "ada@example.com" })).await;
    assert_error(&taken, 409, "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    assert_eq!(taken.json()["details"]["contact_channel_value"], Value::Null);
    assert_eq!(values(&channels(&app, &bob.user_id).await), ["bob@example.com"]);
    let mut body = new("me", "ada@example.com");
    let named = add(&caller, body.clone()).await;
    caller.delete(&path_of(&named)).await;

    // A sign-in address that a server sets is claimed immediately, so the request may be rejected.
    body["used_for_auth"] = json!(true);
    body["user_id"] = json!(bob.user_id);
    let taken = app.server().post(PATH, body.clone()).await;
    assert_error(&taken, 409, "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    let details = json!({ "type": "email", "contact_channel_value": "ada@example.com", "would_work_if_email_was_verified": false });
    assert_eq!(
        (&taken.json()["details"], taken.header("x-stack-known-error")),
        (&details, Some("CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE"))
    );
    assert_eq!(app.sign_in("ada@example.com").await.user_id, ada.user_id);

    // Once Ada's address can no longer be used to sign in, other users may claim it.
    app.server().patch(&path_of(&channel), json!({ "used_for_auth": false })).await;
    add(&app.server(), body).await;
    assert_eq!(app.sign_in("ada@example.com").await.user_id, bob.user_id);
}

#[tokio::test]
async fn at_most_one_channel_is_primary() {
    let app = TestApp::start().await;
    let (ada, caller, first) = ada(&app).await;
    let mut body = new("me", "ada@work.example");
    body["is_primary"] = json!(true);
    let second = add(&caller, body).await;
    assert_eq!((&second["is_primary"], primary_email(&app, &ada).await), (&json!(true), json!("ada@work.example")));
    assert_eq!(caller.get(&path_of(&first)).await.json()["is_primary"], false);
    caller.patch(&path_of(&second), json!({ "is_primary": false })).await;
    assert_eq!(primary_email(&app, &ada).await, Value::Null);
    caller.patch(&path_of(&first), json!({ "is_primary": true })).await;
    assert_eq!(primary_email(&app, &ada).await, "ada@example.com");
    // No other channel becomes primary automatically.
    caller.delete(&path_of(&first)).await;
    assert_eq!(primary_email(&app, &ada).await, Value::Null);
    let me = caller.get("/api/v1/users/me").await.json();
    assert_eq!((&me["primary_email_verified"], &me["has_password"]), (&json!(false), &json!(true)));
}

#[tokio::test]
async fn removing_the_last_address_releases_it_and_keeps_the_session() {
    let app = TestApp::start().await;
    let (ada, caller, channel) = ada(&app).await;
    assert_eq!(caller.delete(&path_of(&channel)).await.status(), 200);
    assert_eq!(channels(&app, &ada.user_id).await, Vec::<Value>::new());
    assert_eq!(caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    assert_error(&app.client().post("/api/v1/auth/password/sign-in", body).await, 400, "EMAIL_PASSWORD_MISMATCH");
    // A server can give the user a different address.
    let mut body = new(&ada.user_id, "ada@new.example");
    body["used_for_auth"] = json!(true);
    add(&app.server(), body).await;
    assert_eq!(app.sign_in("ada@new.example").await.user_id, ada.user_id);
}

#[tokio::test]
async fn a_server_must_name_an_existing_user() {
    let app = TestApp::start().await;
    let nobody = "0f9b6c1e-2f4b-4d7a-8a34-5b9f0c6d7e81";
    assert_error(&app.server().get(PATH).await, 400, "SCHEMA_ERROR");
    assert_error(&app.server().get(&format!("{PATH}?user_id=me")).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_eq!(channels(&app, nobody).await, Vec::<Value>::new());
    assert_error(&app.server().post(PATH, new(nobody, "ada@example.com")).await, 400, "USER_ID_DOES_NOT_EXIST");
    let path = format!("{PATH}/{nobody}/{nobody}");
    for answer in [app.server().get(&path).await, app.server().patch(&path, json!({})).await, app.server().delete(&path).await] {
        assert_error(&answer, 404, "CONTACT_CHANNEL_NOT_FOUND");
    }
    // A server of another project cannot see the user or the channel.
    let (ada, _, channel) = ada(&app).await;
    let other = app.server_of(&app.another_project().await);
    assert_error(&other.get(&path_of(&channel)).await, 404, "CONTACT_CHANNEL_NOT_FOUND");
    assert_error(&other.post(PATH, new(&ada.user_id, "ada@work.example")).await, 400, "USER_ID_DOES_NOT_EXIST");
    assert_eq!(channels(&app, &ada.user_id).await, [channel]);
}

#[tokio::test]
async fn schema_errors_are_reported() {
    let app = TestApp::start().await;
    let (_, caller, channel) = ada(&app).await;
    let answer = caller.post(PATH, json!({ "user_id": "you", "value": "nonsense", "type": "phone", "more": 1 })).await;
    assert_error(&answer, 400, "SCHEMA_ERROR");
    for path in ["body.user_id", "body.value", "body.type", "body.used_for_auth", "body.more"] {
        assert!(answer.text().contains(path), "{path}: {}", answer.text());
    }
    let answer = caller.patch(&path_of(&channel), json!({ "value": null, "is_primary": "yes" })).await;
    assert!(answer.text().contains("body.is_primary"), "{}", answer.text());
    for path in ["me/x", "you/5d0c8a3e-7b1f-4c2d-9e6a-1f2b3c4d5e6f"] {
        assert_error(&caller.get(&format!("{PATH}/{path}")).await, 400, "SCHEMA_ERROR");
    }
    assert_error(&caller.get(&format!("{PATH}?user_id=me&nonsense=1")).await, 400, "SCHEMA_ERROR");
    assert_eq!(caller.get(&path_of(&channel)).await.json(), channel);
}

/// Like the response to a sign-up, the response reveals whether a user signs in with the address.
#[tokio::test]
async fn replacing_an_unproved_address_is_limited_like_a_sign_up() {
    for rule in [Rule::SignUp, Rule::SignUpNetwork] {
        let app = TestApp::start_with(Limits::off().with(rule, Some(Rate::new(4, 600)))).await;
        let bob = app.sign_up("bob@example.com").await;
        let (caller, own) = (app.signed_in(&bob), channels(&app, &bob.user_id).await.remove(0));
        for number in 0..3 {
            let replaced = caller.patch(&path_of(&own), json!({ "value": format!("bob{number}@example.com") })).await;
            assert_eq!(replaced.status(), 200, "{}", replaced.text());
        }
        let limited = caller.patch(&path_of(&own), json!({ "value": "bob3@example.com" })).await;
        assert_error(&limited, 429, "RATE_LIMITED");
        assert_eq!(limited.json()["details"]["limit"], "sign-up");
        assert_eq!(caller.patch(&path_of(&own), json!({ "is_primary": true })).await.status(), 200);
        assert_eq!(app.server().patch(&path_of(&own), json!({ "value": "bob4@example.com" })).await.status(), 200);
    }
}
