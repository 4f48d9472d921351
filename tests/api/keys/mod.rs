//! API keys of users and teams.

mod attacks;
mod exposed_key_revoke;
mod key_check;
mod key_rotate;
mod notices;
mod team_key_creators;
mod team_keys;
mod user_keys;

use serde_json::{Value, json};
use support::{SignedInUser, TestApp};

pub(crate) const USER_KEYS: &str = "/api/v1/user-api-keys";
pub(crate) const TEAM_KEYS: &str = "/api/v1/team-api-keys";
const ADA: &str = "ada@example.com";

/// A project that permits keys of users and teams.
async fn started() -> TestApp {
    let app = TestApp::start().await;
    let config = json!({ "allow_user_api_keys": true, "allow_team_api_keys": true, "client_team_creation_enabled": true });
    app.configure(json!({ "config": config })).await;
    app
}

/// Creates a key of a user, and returns the response.
async fn user_key(app: &TestApp, user: &SignedInUser) -> Value {
    let body = json!({ "user_id": "me", "description": "CI", "expires_at_millis": null });
    let answer = app.signed_in(user).post(USER_KEYS, body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

/// Creates a team with a key on behalf of the user, and returns the team's id and the key.
async fn team_key(app: &TestApp, user: &SignedInUser) -> (String, Value) {
    let team = app.signed_in(user).post("/api/v1/teams", json!({ "display_name": "Engines", "creator_user_id": "me" })).await;
    assert_eq!(team.status(), 201, "{}", team.text());
    let team = text(&team.json()["id"]);
    let body = json!({ "team_id": team, "description": "Deployments", "expires_at_millis": null });
    let answer = app.signed_in(user).post(TEAM_KEYS, body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    (team, answer.json())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

/// The status and the error code of a key check. The code is empty on success.
async fn checked(app: &TestApp, path: &str, key: &Value) -> (u16, String) {
    let answer = app.server().post(&format!("{path}/check"), json!({ "api_key": key })).await;
    match answer.status() {
        200 => (200, String::new()),
        status => (status, answer.code()),
    }
}

fn error(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}
