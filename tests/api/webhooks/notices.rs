//! The emails that tell a project's owners that endpoints were disabled.

use gateway::keys::Keys;
use jiff::SignedDuration;
use serde_json::{Value, json};
use support::receiver::{Receiver, Reply};
use support::{Caller, TestApp};

use super::path;
use crate::owners::Owner;

/// A project with keys, owned by a team.
struct OwnedProject {
    keys: Keys,
    admin: Caller,
    receiver: Receiver,
    endpoint: Value,
}

impl OwnedProject {
    /// Gives the team of `owner` a project that has this name and a dead endpoint. The project has
    /// keys because an owner's access token would expire within a day.
    async fn create(app: &TestApp, owner: &Owner, name: &str) -> Self {
        let keys = app.another_project().await;
        let mut row = app.app.store.project(&keys.project_id).await.unwrap().unwrap();
        row.project.owner_team_id = Some(owner.team.clone());
        row.project.display_name = name.to_owned();
        app.app.store.update_project(&row.project, row.version, None).await.unwrap();
        let (admin, receiver) = (app.admin_of(&keys), Receiver::answering(vec![Reply::Status(410)]).await);
        let created = admin.post(super::ENDPOINTS, json!({ "url": receiver.url, "event_types": ["user.created"] })).await;
        assert_eq!(created.status(), 201, "{}", created.text());
        Self { keys, admin, receiver, endpoint: created.json() }
    }

    /// Enables the endpoint, and causes an event, which disables the endpoint again.
    async fn switch_off(&self, app: &TestApp) {
        let path = path(&self.endpoint, "");
        assert_eq!(self.admin.patch(&path, json!({ "enabled": true })).await.status(), 200);
        app.server_of(&self.keys).post("/api/v1/users", json!({ "display_name": "Ada" })).await;
        app.deliver_webhooks().await;
        let off = self.admin.get(&path).await.json();
        assert_eq!((&off["enabled"], &off["disabled_reason"]), (&json!(false), &json!("gone")));
    }
}

async fn verified(app: &TestApp, internal: &Keys, email: &str) -> Owner {
    let owner = Owner::sign_up(app, internal, email).await;
    let path = format!("/api/v1/users/{}", owner.user.user_id);
    assert_eq!(app.server_of(internal).patch(&path, json!({ "primary_email_verified": true })).await.status(), 200);
    owner
}

/// The subjects and texts of the emails about endpoints that an address has received.
async fn told(app: &TestApp, email: &str) -> Vec<(String, String)> {
    let mails = app.mails(email).await.into_iter().map(|mail| (mail.0.subject, mail.0.text));
    mails.filter(|(subject, _)| subject.starts_with("Webhooks of")).collect()
}

#[tokio::test]
async fn only_verified_addresses_of_owners_are_told() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let (ada, bob) = (verified(&app, &internal, "ada@example.com").await, verified(&app, &internal, "bob@example.com").await);
    let server = app.server_of(&internal);
    assert_eq!(server.post(&format!("/api/v1/team-memberships/{}/{}", ada.team, bob.user.user_id), json!({})).await.status(), 201);
    let move_to = async |email: &str| {
        assert_eq!(bob.caller().patch("/api/v1/users/me", json!({ "primary_email": email })).await.status(), 200);
    };
    let project = OwnedProject::create(&app, &ada, "Shop").await;
    project.switch_off(&app).await;
    // The email goes to the address that was primary when the endpoint was disabled.
    move_to("victim@example.com").await;
    assert_eq!((told(&app, "ada@example.com").await.len(), told(&app, "bob@example.com").await.len()), (1, 1));
    app.advance(SignedDuration::from_hours(24));
    project.switch_off(&app).await;
    assert_eq!((told(&app, "ada@example.com").await.len(), told(&app, "bob@example.com").await.len()), (2, 1));
    assert!(told(&app, "victim@example.com").await.is_empty());
}

#[tokio::test]
async fn owners_are_told_at_most_once_a_day_about_a_project() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = verified(&app, &internal, "ada@example.com").await;
    let mut project = OwnedProject::create(&app, &ada, "Shop").await;
    let told = async || told(&app, "ada@example.com").await.len();
    for round in 0..10 {
        if round == 5 {
            // A new endpoint does not bypass the limit.
            assert_eq!(project.admin.delete(&path(&project.endpoint, "")).await.status(), 200);
            let body = json!({ "url": project.receiver.url, "event_types": ["user.created"] });
            project.endpoint = project.admin.post(super::ENDPOINTS, body).await.json();
        }
        project.switch_off(&app).await;
        app.advance(SignedDuration::from_mins(10));
    }
    assert_eq!(told().await, 1);
    OwnedProject::create(&app, &ada, "Other").await.switch_off(&app).await;
    assert_eq!(told().await, 2, "each project has a limit of its own");
    app.advance(SignedDuration::from_hours(24));
    project.switch_off(&app).await;
    project.switch_off(&app).await;
    assert_eq!(told().await, 3);
}

#[tokio::test]
async fn the_texts_of_a_project_are_no_links_in_the_email_to_its_owners() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let ada = verified(&app, &internal, "ada@example.com").await;
    let project = OwnedProject::create(&app, &ada, "Renew at https://evil.example/pay").await;
    project.switch_off(&app).await;
    let (subject, text) = told(&app, "ada@example.com").await.remove(0);
    let host = project.receiver.url.split('/').nth(2).unwrap();
    for part in ["://", "evil.example", host] {
        assert!(!subject.contains(part) && !text.contains(part), "{subject}\n{text}");
    }
    assert!(subject.contains("evil.\u{2060}example") && text.contains("evil.\u{2060}example"), "{subject}\n{text}");
}
