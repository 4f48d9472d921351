//! Admin access tokens. A user of the project `internal` may administer the projects of their
//! teams, but no other projects.

use jiff::SignedDuration;
use model::user::User;
use serde_json::json;
use store::session::gain_factor;
use support::{Caller, TestApp};

use crate::owners::{Owner, with_token};
use crate::stored::user_id;

const CURRENT: [(&str, &str); 3] =
    [("client", "/api/v1/projects/current"), ("server", "/api/v1/users"), ("admin", "/api/v1/internal/projects/current")];

async fn assert_refused(app: &TestApp, project: &str, token: &str, code: &str) {
    for (level, path) in CURRENT {
        let answer = with_token(app, project, level, token).get(path).await;
        assert_eq!((answer.status(), answer.code().as_str()), (401, code), "{level}");
    }
}

async fn opens(app: &TestApp, project: &str, token: &str) -> bool {
    let mut all = Vec::new();
    for (level, path) in CURRENT {
        all.push(with_token(app, project, level, token).get(path).await.status() == 200);
    }
    assert!(all.iter().all(|opens| *opens == all[0]), "{all:?}");
    all[0]
}

#[tokio::test]
async fn an_owner_token_grants_every_access_type_without_a_key() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let project = ada.project("Notes").await;
    let token = &ada.user.access_token;
    assert!(opens(&app, &project, token).await);
    // A key that is sent with the token is ignored.
    let caller = with_token(&app, &project, "server", token).with("x-stack-secret-server-key", "ssk_wrong");
    assert_eq!(caller.get("/api/v1/users").await.status(), 200);
    // The new user was created in the owner's project, so the owner is still the only user in
    // `internal`.
    let made = caller.post("/api/v1/users", json!({ "primary_email": "bob@example.com" })).await;
    assert_eq!(made.status(), 201, "{}", made.text());
    let count = |answer: support::Answer| answer.json()["items"].as_array().unwrap().len();
    assert_eq!((count(caller.get("/api/v1/users").await), count(app.server_of(&internal).get("/api/v1/users").await)), (1, 1));
    // The operation still requires its minimum access level.
    let client = with_token(&app, &project, "client", token).get("/api/v1/users").await;
    assert_eq!((client.status(), client.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
}

#[tokio::test]
async fn a_user_outside_the_owning_team_gets_no_access() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let (ada, bob) = (Owner::sign_up(&app, &internal, "ada@example.com").await, Owner::sign_up(&app, &internal, "bob@example.com").await);
    let project = ada.project("Notes").await;
    assert_refused(&app, &project, &bob.user.access_token, "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN").await;
    // The project `internal` does not have an owner. A project that was created without an owner
    // does not have one either.
    assert_refused(&app, app.project_id().as_str(), &ada.user.access_token, "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN").await;
    assert_refused(&app, "internal", &ada.user.access_token, "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN").await;

    // The members of a team own its projects from the time they join until they leave, no matter
    // which team they have selected.
    let server = app.server_of(&internal);
    let membership = format!("/api/v1/team-memberships/{}/{}", ada.team, bob.user.user_id);
    assert_eq!(server.post(&membership, json!({})).await.status(), 201);
    assert!(opens(&app, &project, &bob.user.access_token).await);
    assert_eq!(bob.owned().await, ["Notes"]);
    assert_eq!(server.delete(&membership).await.status(), 200);
    assert_refused(&app, &project, &bob.user.access_token, "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN").await;
    assert!(opens(&app, &project, &ada.user.access_token).await);

    // If a team has no members, its projects have no owners.
    let membership = format!("/api/v1/team-memberships/{}/{}", ada.team, ada.user.user_id);
    assert_eq!(server.delete(&membership).await.status(), 200);
    assert_refused(&app, &project, &ada.user.access_token, "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN").await;
}

#[tokio::test]
async fn a_foreign_or_malformed_owner_token_is_rejected() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let project = ada.project("Notes").await;
    let own = app.sign_up("ada@example.com").await;
    assert_refused(&app, &project, &own.access_token, "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN").await;
    assert_refused(&app, app.project_id().as_str(), &own.access_token, "ADMIN_ACCESS_TOKEN_IS_NOT_ADMIN").await;
    assert_refused(&app, &project, "no.token.this", "UNPARSABLE_ADMIN_ACCESS_TOKEN").await;
    let server = app.server_of(&internal);
    let visitor = server.post("/api/v1/users", json!({ "is_anonymous": true })).await.json()["id"].clone();
    let visitor = server.post("/api/v1/auth/sessions", json!({ "user_id": visitor })).await.json();
    assert_refused(&app, &project, visitor["access_token"].as_str().unwrap(), "UNPARSABLE_ADMIN_ACCESS_TOKEN").await;
    // The project is checked before the token.
    let unknown = with_token(&app, "6a0c5a8e-58a1-4b0e-9a51-0000000000ff", "admin", "no.token.this").get(CURRENT[2].1).await;
    assert_eq!(unknown.code(), "CURRENT_PROJECT_NOT_FOUND");
}

#[tokio::test]
async fn an_expired_token_is_reported_with_its_expiry() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let project = ada.project("Notes").await;
    app.advance(SignedDuration::from_mins(10));
    let expired = with_token(&app, &project, "admin", &ada.user.access_token).get(CURRENT[2].1).await;
    assert_eq!((expired.status(), expired.code().as_str()), (401, "ADMIN_ACCESS_TOKEN_EXPIRED"));
    assert_eq!(expired.json()["details"], json!({ "expired_at_millis": app.now().as_millisecond() }));
}

/// Every request checks the session and the user.
#[tokio::test]
async fn an_owner_token_ends_with_its_session_or_when_its_user_is_restricted_or_deleted() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let sign_out = async |ada: &Owner| {
        let caller: Caller = ada.caller().with("x-stack-refresh-token", &ada.user.refresh_token);
        assert_eq!(caller.delete("/api/v1/auth/sessions/current").await.status(), 200);
    };
    let server = app.server_of(&internal);
    for (email, code) in [
        ("ada@example.com", "ADMIN_ACCESS_TOKEN_EXPIRED"),
        ("bob@example.com", "UNPARSABLE_ADMIN_ACCESS_TOKEN"),
        ("cy@example.com", "ADMIN_ACCESS_TOKEN_USER_NOT_FOUND"),
        ("dan@example.com", "ADMIN_ACCESS_TOKEN_EXPIRED"),
    ] {
        let owner = Owner::sign_up(&app, &internal, email).await;
        let project = owner.project("Notes").await;
        assert!(opens(&app, &project, &owner.user.access_token).await);
        let path = format!("/api/v1/users/{}", owner.user.user_id);
        match email {
            "ada@example.com" => sign_out(&owner).await,
            "bob@example.com" => assert_eq!(server.patch(&path, json!({ "restricted_by_admin": true })).await.status(), 200),
            "cy@example.com" => assert_eq!(server.delete(&path).await.status(), 200),
            // A password change ends all sessions.
            _ => assert_eq!(server.patch(&path, json!({ "password": "another horse battery" })).await.status(), 200),
        }
        assert_refused(&app, &project, &owner.user.access_token, code).await;
    }
}

#[tokio::test]
async fn an_owner_proves_both_factors_if_the_console_requires_them() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let (project, token) = (ada.project("Notes").await, &ada.user.access_token);
    // A passkey of the owner, as registered in the console.
    app.offer_passkeys().await;
    let other = app.sign_up("ada@example.com").await;
    app.add_passkey(&other, 1).await;
    let (store, id) = (&app.app.store, &internal.project_id);
    let passkeys = store.user(app.project_id(), user_id(&other)).await.unwrap().unwrap().user.passkeys;
    let row = store.user(id, user_id(&ada.user)).await.unwrap().unwrap();
    store.change_account(id, &row, &User { passkeys, ..row.user.clone() }, Vec::new()).await.unwrap();
    let mut console = store.project(id).await.unwrap().unwrap();
    console.project.config.passkeys.enabled = true;
    console.project.config.second_factor.required_of_everyone = true;
    store.update_project(&console.project, console.version, None).await.unwrap();
    assert_refused(&app, &project, token, "UNPARSABLE_ADMIN_ACCESS_TOKEN").await;

    let mut console = store.project(id).await.unwrap().unwrap();
    console.project.config.passkeys.replaces_second_factor = true;
    store.update_project(&console.project, console.version, None).await.unwrap();
    assert_refused(&app, &project, token, "UNPARSABLE_ADMIN_ACCESS_TOKEN").await;
    let restricted = ada.caller().with("x-stack-allow-restricted-user", "true");
    assert_eq!(restricted.get(crate::owners::PROJECTS).await.code(), "RESTRICTED_USER_NOT_ALLOWED");

    let sessions = store.sessions(id, row.user.id, None, 1, |_| true).await.unwrap().sessions;
    store.transact([gain_factor(id, &sessions[0]).unwrap()]).await.unwrap();
    assert!(opens(&app, &project, token).await);
    assert_eq!(ada.owned().await, ["Notes"]);
}
