//! Attacks that must fail, most of them on accounts, and requirements of security standards.

mod code_matrix;
mod code_world;
mod dearest;
mod ended_flows;
mod ended_matrix;
mod ended_sessions;
mod expensive_rules;
mod first_proof;
mod first_proof_matrix;
mod first_proof_races;
mod heaviest;
mod kept_away;
mod last_ways;
mod mail_floods;
mod names;
mod not_me;
mod notices;
mod notices_misused;
mod old_codes;
mod old_tables;
mod outbox_reader;
mod own_proofs;
mod planted;
mod providers_callback;
mod requirements;
mod squatters;
mod switched_off;
mod unseen_addresses;

use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

const PASSWORD: &str = "correct horse battery";
const NEW: &str = "a better horse battery";
const CHANNELS: &str = "/api/v1/contact-channels";
const CALLBACK: &str = "http://localhost:3000/x";

/// Adds an email address to the signed-in user.
async fn add(app: &TestApp, user: &SignedInUser, value: &str) -> Answer {
    let body = json!({ "user_id": "me", "value": value, "type": "email", "used_for_auth": true });
    app.signed_in(user).post(CHANNELS, body).await
}

/// Adds an email address to the signed-in user, and returns the id of its contact channel.
async fn added(app: &TestApp, user: &SignedInUser, value: &str) -> String {
    let answer = add(app, user, value).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

/// Requests the code for a channel of the user, and reads the code from the email.
async fn verification_code(app: &TestApp, user: &SignedInUser, channel: &str, value: &str) -> String {
    let path = format!("{CHANNELS}/me/{channel}/send-verification-code");
    let sent = app.signed_in(user).post(&path, json!({ "callback_url": CALLBACK })).await;
    assert_eq!(sent.status(), 200, "{}", sent.text());
    app.last_mail(value).await.code()
}

async fn verify(app: &TestApp, code: &str) -> Answer {
    app.client().post("/api/v1/contact-channels/verify", json!({ "code": code })).await
}

async fn reset_code(app: &TestApp, email: &str) -> String {
    let body = json!({ "email": email, "callback_url": CALLBACK });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
    app.last_mail(email).await.code()
}

async fn reset(app: &TestApp, code: &str) -> Answer {
    app.client().post("/api/v1/auth/password/reset", json!({ "code": code, "password": NEW })).await
}

async fn password_sign_in(app: &TestApp, email: &str, password: &str) -> Answer {
    app.client().post("/api/v1/auth/password/sign-in", json!({ "email": email, "password": password })).await
}

async fn otp_sign_in(app: &TestApp, code: &str) -> Answer {
    app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await
}

/// The user, in the form that servers get.
async fn user(app: &TestApp, id: &str) -> Value {
    app.server().get(&format!("/api/v1/users/{id}")).await.json()
}

async fn change(app: &TestApp, id: &str, patch: Value) {
    let answer = app.server().patch(&format!("/api/v1/users/{id}"), patch).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
}

/// A user's addresses, and whether each is verified.
async fn addresses(app: &TestApp, id: &str) -> Vec<(String, bool)> {
    let list = app.server().get(&format!("{CHANNELS}?user_id={id}")).await.json();
    let address = |item: &Value| (item["value"].as_str().unwrap().to_owned(), item["is_verified"] == true);
    list["items"].as_array().unwrap().iter().map(address).collect()
}
