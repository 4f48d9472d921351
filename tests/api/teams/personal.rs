//! The team that a new user gets.

use serde_json::{Value, json};
use support::TestApp;

use super::teams_of;

#[tokio::test]
async fn whoever_signs_up_gets_a_team_when_the_project_says_so() {
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

#[tokio::test]
async fn a_user_who_becomes_ordinary_keeps_its_team() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "create_team_on_sign_up": true } })).await;
    let anonymous = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let anonymous = support::SignedIn::of("", &anonymous);
    let caller = app.signed_in(&anonymous).with("x-stack-allow-anonymous-user", "true");
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    assert_eq!(caller.post("/api/v1/auth/password/sign-up", body).await.json()["user_id"], anonymous.user_id.as_str());
    assert_eq!(teams_of(&app, &anonymous.user_id).await.len(), 1);
}
