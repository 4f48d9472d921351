//! A table of an older version without configuration levels, passkeys or webhooks, exported with
//! the `gateway export` of that version. The export and its deployment secret are in `tests/older`.

use std::path::Path;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Folder, Gateway, run, succeeds};

const PROJECT: &str = "4e1c89e2-414b-4edf-97de-9722b0387e0f";
const ADMIN_KEY: &str = "sak_3ah68kbg7jw7eg5y63kzneyrwphdyax1pcnpd0er95y2s";
const SERVER_KEY: &str = "ssk_4tcfd0qrgp7tqp6jnvqx6wgttrfs43a6v6kz25hembarq";
const ADA: &str = "f17d6af7-8ed2-4079-aca2-db971f6a9a22";
const BOB: &str = "0af565e4-1796-442d-a5c3-3b3975010bb6";
const TEAM: &str = "4328e952-ca29-42b6-be74-b8ea43d30814";

/// A gateway of the current version with the table of the older version.
fn start(folder: &Folder) -> Gateway {
    let older = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/older");
    let imported = succeeds(&run(&["import", "--from", older, "--data", &folder.data()]));
    assert!(imported.contains(" 0 already existed"), "{imported}");
    std::fs::copy(Path::new(older).join("secret"), Path::new(&folder.data()).join("secret")).unwrap();
    Gateway::start(&folder.data())
}

/// Calls an operation as the project's server or administrator.
async fn ask(gateway: &Gateway, access: &str, method: Method, path: &str, body: Option<Value>) -> Value {
    let (name, key) =
        if access == "admin" { ("x-stack-super-secret-admin-key", ADMIN_KEY) } else { ("x-stack-secret-server-key", SERVER_KEY) };
    let headers = [("x-stack-project-id", PROJECT), ("x-stack-access-type", access), (name, key)];
    let answer = gateway.send(method, &format!("/api/v1{path}"), &headers, body).await;
    assert_eq!(answer.status(), 200, "{path}");
    answer.json().await.unwrap()
}

#[tokio::test]
async fn people_and_teams_of_an_older_table_are_as_they_were() {
    let folder = Folder::new("older-people");
    let gateway = start(&folder);
    for (email, password) in [("ada@example.com", "correct horse battery"), ("bob@example.com", "another horse battery")] {
        let body = json!({ "email": email, "password": password });
        let (status, answer) = gateway.client(PROJECT, Method::POST, "/api/v1/auth/password/sign-in", Some(body)).await;
        assert_eq!(status, 200, "{answer}");
    }
    let bob = ask(&gateway, "server", Method::GET, &format!("/users/{BOB}"), None).await;
    assert_eq!((&bob["server_metadata"], &bob["display_name"]), (&json!({ "plan": "pro" }), &json!("Bob")));
    let found = ask(&gateway, "server", Method::GET, "/users?query=ada", None).await;
    assert_eq!(found["items"][0]["id"], ADA);
    let members = ask(&gateway, "server", Method::GET, &format!("/users?team_id={TEAM}"), None).await;
    assert_eq!(members["items"].as_array().unwrap().len(), 2);
    let held = ask(&gateway, "server", Method::GET, &format!("/team-permissions?team_id={TEAM}&user_id={ADA}"), None).await;
    assert!(held["items"].as_array().unwrap().iter().any(|item| item["id"] == "write"), "{held}");
}

#[tokio::test]
async fn older_settings_are_in_the_level_environment_and_no_push_changes_them() {
    let folder = Folder::new("older-settings");
    let gateway = start(&folder);
    let level = "/internal/config/override/environment";
    let stored = ask(&gateway, "admin", Method::GET, level, None).await;
    let values: Value = serde_json::from_str(stored["config_string"].as_str().unwrap()).unwrap();
    assert_eq!(values["auth.otp.allowSignIn"], true);
    assert_eq!(values["auth.oauth.providers.github"]["clientId"], "an-id");
    assert_eq!(values["auth.signUpRules.no-spam"]["action"]["type"], "reject");

    let settings = async || ask(&gateway, "admin", Method::GET, "/internal/projects/current", None).await["config"].clone();
    let before = settings().await;
    assert_eq!(before["domains"], json!([{ "domain": "https://web.example.com", "handler_path": "/handler" }]));
    let pushed = json!({ "auth": { "otp": { "allowSignIn": false }, "password": { "allowSignIn": false } }, "teams.allowClientTeamCreation": false });
    let body = json!({ "config_string": pushed.to_string(), "source": { "type": "pushed-from-unknown" } });
    ask(&gateway, "admin", Method::PUT, "/internal/config/override/branch", Some(body)).await;
    assert_eq!(settings().await, before);
    let spam = json!({ "email": "a@spam.example", "password": "correct horse battery" });
    let (status, answer) = gateway.client(PROJECT, Method::POST, "/api/v1/auth/password/sign-up", Some(spam)).await;
    assert_eq!((status, answer["code"].as_str()), (403, Some("SIGN_UP_REJECTED")), "{answer}");
}
