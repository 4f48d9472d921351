//! Projects that users of the project `internal` create and own through their teams.

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

use super::config::{assert_done, level, put, read};
use crate::owners::{Owner, PROJECTS, keys_of, with_token};

fn assert_error(answer: &support::Answer, status: u16, code: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
}

#[tokio::test]
async fn users_create_projects_and_list_those_of_their_teams() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    assert!(ada.owned().await.is_empty());
    let body = json!({
        "display_name": "Notes", "owner_team_id": ada.team, "description": "For writing down",
        "config": { "magic_link_enabled": true, "domains": [{ "domain": "https://notes.example.com" }] },
    });
    let made = ada.caller().post(PROJECTS, body).await;
    assert_eq!(made.status(), 201, "{}", made.text());
    let made = made.json();
    assert_eq!((&made["display_name"], &made["description"]), (&json!("Notes"), &json!("For writing down")));
    assert_eq!((&made["owner_team_id"], &made["created_at_millis"]), (&json!(ada.team), &json!(app.now().as_millisecond())));
    let config = &made["config"];
    assert_eq!(
        (&config["credential_enabled"], &config["magic_link_enabled"], &config["allow_localhost"]),
        (&json!(true), &json!(true), &json!(true))
    );
    assert_eq!(config["domains"], json!([{ "domain": "https://notes.example.com", "handler_path": "/handler" }]));
    let id = made["id"].as_str().unwrap();
    let read = with_token(&app, id, "admin", &ada.user.access_token).get("/api/v1/internal/projects/current").await.json();
    assert_eq!(read, made);

    app.advance(SignedDuration::from_secs(1));
    let team = ada.caller().post("/api/v1/teams", json!({ "display_name": "Engines" })).await.json();
    let other = json!({ "display_name": "Looms", "owner_team_id": team["id"] });
    assert_eq!(ada.caller().post(PROJECTS, other).await.status(), 201);
    assert_eq!(ada.owned().await, ["Notes", "Looms"]);
    let listed = ada.caller().get(PROJECTS).await.json();
    assert_eq!((&listed["items"][0], &listed["is_paginated"]), (&made, &json!(true)));
    // The list shows the new name of a project.
    let admin = with_token(&app, id, "admin", &ada.user.access_token);
    assert_eq!(admin.patch("/api/v1/internal/projects/current", json!({ "display_name": "Papers" })).await.status(), 200);
    assert_eq!(ada.owned().await, ["Papers", "Looms"]);
}

#[tokio::test]
async fn a_project_is_created_with_the_fields_that_the_sdk_sends() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    for is_development in [true, false] {
        let body = json!({
            "display_name": "Notes", "owner_team_id": ada.team, "description": null, "onboarding_status": "auth_setup",
            "is_development_environment": is_development,
        });
        let made = ada.caller().post(PROJECTS, body).await;
        assert_eq!(made.status(), 201, "{}", made.text());
        let made = made.json();
        assert_eq!((&made["description"], &made["onboarding_status"]), (&json!(""), &json!("auth_setup")));
        assert_eq!(made["is_development_environment"], true, "the public URL of the tests uses plain HTTP");
    }
}

#[tokio::test]
async fn a_push_changes_nothing_that_a_project_was_created_with() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let body = json!({ "display_name": "Notes", "owner_team_id": ada.team, "config": {
        "sign_up_enabled": true, "credential_enabled": false, "require_publishable_client_key": false, "client_team_creation_enabled": false,
        "oauth_providers": [{ "id": "github", "client_id": "an-id", "client_secret": "a-secret" }],
    } });
    let made = ada.caller().post(PROJECTS, body).await;
    assert_eq!(made.status(), 201, "{}", made.text());
    let made = made.json();
    let admin = with_token(&app, made["id"].as_str().unwrap(), "admin", &ada.user.access_token);
    let own = read(&admin, &level("environment")).await;
    assert_eq!((&own["auth.allowSignUp"], &own["auth.password.allowSignIn"]), (&json!(true), &json!(false)));
    assert_eq!(own["apps.installed.authentication.enabled"], true);
    assert_eq!(own["auth.oauth.providers"]["github"]["clientSecret"], "********");
    assert_eq!(read(&admin, &level("project")).await, json!({ "project.requirePublishableClientKey": false }));
    assert_eq!(read(&admin, &level("branch")).await, json!({}));
    assert!(!format!("{:?}", app.table()).contains("a-secret"));

    let pushed = json!({
        "auth": { "allowSignUp": false, "password": { "allowSignIn": true }, "oauth": { "providers": {} } }, "teams.allowClientTeamCreation": true,
        "users.allowClientUserDeletion": true,
    });
    assert_done(&put(&admin, "branch", pushed, true).await);
    let mut expected = made["config"].clone();
    expected["client_user_deletion_enabled"] = json!(true);
    assert_eq!(admin.get("/api/v1/internal/projects/current").await.json()["config"], expected);
}

#[tokio::test]
async fn a_new_project_has_no_keys_until_its_owner_creates_some() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let id = ada.project("Notes").await;
    let list = with_token(&app, &id, "admin", &ada.user.access_token).get("/api/v1/internal/api-keys").await.json();
    assert_eq!(list["items"], json!([]));
    let keys = keys_of(&app, &id, &ada.user.access_token).await;
    let server = app.anonymous().with("x-stack-project-id", &id).with("x-stack-access-type", "server");
    let server = server.with("x-stack-secret-server-key", keys["secret_server_key"].as_str().unwrap());
    assert_eq!(server.get("/api/v1/users").await.status(), 200);
}

#[tokio::test]
async fn projects_cannot_be_created_for_other_teams() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let (ada, bob) = (Owner::sign_up(&app, &internal, "ada@example.com").await, Owner::sign_up(&app, &internal, "bob@example.com").await);
    for team in [bob.team.as_str(), "6a0c5a8e-58a1-4b0e-9a51-0000000000ff"] {
        let answer = ada.caller().post(PROJECTS, json!({ "display_name": "Notes", "owner_team_id": team })).await;
        assert_error(&answer, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
        assert_eq!(answer.json()["details"], json!({ "team_id": team, "user_id": ada.user.user_id }));
    }
    let path = format!("/api/v1/teams/{}", ada.team);
    assert_eq!(app.server_of(&internal).delete(&path).await.status(), 200);
    assert_error(&ada.create("Notes").await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
    assert!(ada.owned().await.is_empty() && bob.owned().await.is_empty());
}

#[tokio::test]
async fn only_users_of_the_internal_project_own_projects() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let user = app.sign_up("ada@example.com").await;
    let body = json!({ "display_name": "Notes", "owner_team_id": "6a0c5a8e-58a1-4b0e-9a51-0000000000ff" });
    let elsewhere = app.signed_in(&user);
    assert_error(&elsewhere.get(PROJECTS).await, 401, "EXPECTED_INTERNAL_PROJECT");
    assert_error(&elsewhere.post(PROJECTS, body.clone()).await, 401, "EXPECTED_INTERNAL_PROJECT");
    let nobody = app.client_of(&internal);
    assert_error(&nobody.get(PROJECTS).await, 401, "USER_AUTHENTICATION_REQUIRED");
    assert_error(&nobody.post(PROJECTS, body.clone()).await, 401, "USER_AUTHENTICATION_REQUIRED");
    let server = app.server_of(&internal);
    let visitor = server.post("/api/v1/users", json!({ "is_anonymous": true })).await.json()["id"].clone();
    let visitor = server.post("/api/v1/auth/sessions", json!({ "user_id": visitor })).await.json();
    let visitor =
        nobody.with("x-stack-access-token", visitor["access_token"].as_str().unwrap()).with("x-stack-allow-anonymous-user", "true");
    assert_error(&visitor.post(PROJECTS, body).await, 401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED");
}

#[tokio::test]
async fn an_invalid_setting_is_reported_and_creates_nothing() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    for (fields, path) in [
        (json!({ "display_name": " " }), "body.display_name"),
        (json!({ "owner_team_id": "mine" }), "body.owner_team_id"),
        (json!({ "config": { "password_min_length": 7 } }), "body.config.password_min_length"),
        (json!({ "colour": "red" }), "body.colour"),
        (json!({ "onboarding_status": "done" }), "body.onboarding_status"),
        (json!({ "is_development_environment": "yes" }), "body.is_development_environment"),
    ] {
        let mut body = json!({ "display_name": "Notes", "owner_team_id": ada.team });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let answer = ada.caller().post(PROJECTS, body).await;
        assert_error(&answer, 400, "SCHEMA_ERROR");
        assert!(answer.text().contains(path), "{}", answer.text());
    }
    assert!(ada.owned().await.is_empty());
}
