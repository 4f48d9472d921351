//! The personal team that a new user gets.

use serde_json::{Value, json};
use support::{Caller, SignedInUser, TestApp};

use super::teams_of;

#[tokio::test]
async fn a_sign_up_creates_a_personal_team_if_enabled() {
    let app = TestApp::start().await;
    let before = app.sign_up("before@example.com").await;
    app.configure(json!({ "config": { "create_team_on_sign_up": true } })).await;
    assert!(teams_of(&app, &before.user_id).await.is_empty());
    let anonymous = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let created = app.server().post("/api/v1/users", json!({ "display_name": "Grace" })).await.json();
    assert_eq!(created["selected_team"], Value::Null);
    let by_password = app.sign_up("ada@example.com").await;
    let by_code = app.sign_in_by_mail("bob@example.com").await;
    let users = [
        (by_password.user_id, "ada@example.com's team"),
        (by_code.user_id, "bob@example.com's team"),
        (anonymous["user_id"].as_str().unwrap().to_owned(), "Personal team"),
        (created["id"].as_str().unwrap().to_owned(), "Grace's team"),
    ];
    for (user, name) in users {
        let read = app.server().get(&format!("/api/v1/users/{user}")).await.json();
        assert_eq!(read["selected_team"]["display_name"], name);
        assert_eq!(teams_of(&app, &user).await, [read["selected_team_id"].as_str().unwrap()]);
        let permissions = app.server().get(&format!("/api/v1/team-permissions?user_id={user}")).await;
        assert_eq!(super::ids(&permissions), ["team_admin"]);
    }
}

/// An anonymous user who has a personal team, and a caller with the user's session.
async fn visitor(app: &TestApp) -> (SignedInUser, Caller) {
    let anonymous = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let anonymous = SignedInUser::of("", &anonymous);
    assert_eq!(selected(app, &anonymous.user_id).await, "Personal team");
    let caller = app.signed_in(&anonymous).with("x-stack-allow-anonymous-user", "true");
    (anonymous, caller)
}

async fn selected(app: &TestApp, user: &str) -> Value {
    app.server().get(&format!("/api/v1/users/{user}")).await.json()["selected_team"]["display_name"].clone()
}

#[tokio::test]
async fn an_upgraded_anonymous_user_keeps_a_renamed_personal_team() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "create_team_on_sign_up": true } })).await;
    let (ada, by_password) = visitor(&app).await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    assert_eq!(by_password.post("/api/v1/auth/password/sign-up", body).await.json()["user_id"], ada.user_id.as_str());
    assert_eq!((teams_of(&app, &ada.user_id).await.len(), selected(&app, &ada.user_id).await), (1, json!("ada@example.com's team")));

    let (bob, by_code) = visitor(&app).await;
    let code = app.sign_in_code("bob@example.com").await;
    assert_eq!(by_code.post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await.json()["user_id"], bob.user_id.as_str());
    assert_eq!(selected(&app, &bob.user_id).await, "bob@example.com's team");

    let (cy, _) = visitor(&app).await;
    let by_server = json!({ "is_anonymous": false, "display_name": "Cy" });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", cy.user_id), by_server).await.status(), 200);
    assert_eq!(selected(&app, &cy.user_id).await, "Cy's team");
}

#[tokio::test]
async fn a_named_or_shared_team_keeps_its_name() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "create_team_on_sign_up": true } })).await;
    let grace = app.sign_up("grace@example.com").await;
    for (email, renamed) in [("ada@example.com", true), ("bob@example.com", false)] {
        let (user, caller) = visitor(&app).await;
        let team = teams_of(&app, &user.user_id).await.remove(0);
        if renamed {
            let name = json!({ "display_name": "Engines" });
            assert_eq!(app.server().patch(&format!("/api/v1/teams/{team}"), name).await.status(), 200);
        } else {
            super::join(&app, &team, &grace.user_id).await;
        }
        let body = json!({ "email": email, "password": "correct horse battery" });
        assert_eq!(caller.post("/api/v1/auth/password/sign-up", body).await.status(), 200);
        assert_eq!(selected(&app, &user.user_id).await, if renamed { "Engines" } else { "Personal team" });
    }
}
