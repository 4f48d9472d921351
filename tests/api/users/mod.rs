//! Users and their contact channels.

mod contact_channel_codes;
mod contact_channel_races;
mod contact_channel_verify;
mod contact_channels;
mod me_delete;
mod me_read;
mod me_update;
mod onboarding_preview;
mod restricted;
mod user_create;
mod user_delete;
mod user_image;
mod user_list;
mod user_list_by_activity;
mod user_list_pages;
mod user_password;
mod user_search;
mod user_search_folding;
mod user_update;

use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

const USERS: &str = "/api/v1/users";
const ME: &str = "/api/v1/users/me";

fn path(id: impl AsRef<str>) -> String {
    format!("{USERS}/{}", id.as_ref())
}

/// Creates a user, with server access.
async fn create(app: &TestApp, body: Value) -> Value {
    let answer = app.server().post(USERS, body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()
}

/// Changes a user, with server access.
async fn update(app: &TestApp, id: &str, body: Value) -> Value {
    let answer = app.server().patch(&path(id), body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

/// A user as servers see it.
async fn read(app: &TestApp, id: &str) -> Value {
    let answer = app.server().get(&path(id)).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

fn id_of(user: &Value) -> String {
    user["id"].as_str().unwrap().to_owned()
}

/// Asserts an error and returns its details.
#[track_caller]
fn assert_error(answer: &Answer, status: u16, code: &str) -> Value {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
    answer.json()["details"].clone()
}

/// The fields named in a schema error.
#[track_caller]
fn fields(answer: &Answer) -> Vec<String> {
    let details = assert_error(answer, 400, "SCHEMA_ERROR");
    let problems = details["problems"].as_array().unwrap().iter();
    let mut fields: Vec<String> = problems.map(|problem| problem["path"].as_str().unwrap().to_owned()).collect();
    fields.sort();
    fields
}

async fn sign_in(app: &TestApp, email: &str, password: &str) -> Answer {
    app.client().post("/api/v1/auth/password/sign-in", json!({ "email": email, "password": password })).await
}

/// A new access token of a session. The token is requested as the SDK does.
async fn refresh(app: &TestApp, user: &SignedInUser) -> Answer {
    let caller = app.client().with("x-stack-refresh-token", &user.refresh_token);
    caller.request("POST", "/api/v1/auth/sessions/current/refresh").send().await
}
