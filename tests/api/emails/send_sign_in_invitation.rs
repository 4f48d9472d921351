//! `POST /api/v1/internal/send-sign-in-invitation`.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Answer, TestApp};

use super::documents::update;

const PATH: &str = "/api/v1/internal/send-sign-in-invitation";
const TEMPLATE: &str = "066dd73c-36da-4fd0-b6d6-ebf87683f8bc";

fn to(email: &str) -> Value {
    json!({ "email": email, "callback_url": "http://localhost:3000/welcome?from=invitation&x=ä" })
}

async fn users(app: &TestApp) -> usize {
    app.server().get("/api/v1/users").await.json()["items"].as_array().unwrap().len()
}

fn assert_error(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
}

#[tokio::test]
async fn an_invitation_links_to_the_callback_url_without_a_code_or_a_user() {
    let app = TestApp::start().await;
    let sent = app.server().post(PATH, to("Grace@Example.com")).await;
    assert_eq!((sent.status(), sent.json()), (200, json!({ "success": true })));
    let mail = app.last_mail("grace@example.com").await;
    assert_eq!(mail.link(), "http://localhost:3000/welcome?from=invitation&x=%C3%A4");
    let name = app.client().get("/api/v1/projects/current").await.json()["display_name"].as_str().unwrap().to_owned();
    assert_eq!(mail.0.subject, format!("You are invited to {name}"));
    assert_eq!(users(&app).await, 0);
    // A user with this address gets the same email.
    app.sign_up("ada@example.com").await;
    assert_eq!(app.admin().post(PATH, to("ada@example.com")).await.status(), 200);
    assert_eq!(app.last_mail("ada@example.com").await.link(), mail.link());
    assert_eq!(users(&app).await, 1);
}

#[tokio::test]
async fn only_a_server_invites_and_only_to_a_trusted_page() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    assert_error(&app.signed_in(&ada).post(PATH, to("grace@example.com")).await, 403, "INSUFFICIENT_ACCESS_TYPE");
    for url in ["https://evil.example/welcome", "javascript:alert(1)//http://localhost:3000"] {
        let answer = app.server().post(PATH, json!({ "email": "grace@example.com", "callback_url": url })).await;
        assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED");
    }
    for wrong in [json!({ "email": "grace@example.com" }), json!({ "email": "grace", "callback_url": "http://localhost:3000" })] {
        assert_error(&app.server().post(PATH, wrong).await, 400, "SCHEMA_ERROR");
    }
    assert!(app.mails("grace@example.com").await.is_empty());
}

#[tokio::test]
async fn a_project_s_own_template_replaces_the_built_in_one() {
    let app = TestApp::start().await;
    let own = json!({ "subject_source": "Come in", "html_source": "<p>{{ variables.link }}</p>", "text_source": null, "theme_id": false });
    update(&app, "templates", TEMPLATE, own).await;
    assert_eq!(app.server().post(PATH, to("grace@example.com")).await.status(), 200);
    assert_eq!(app.last_mail("grace@example.com").await.0.subject, "Come in");
}

#[tokio::test]
async fn invitations_to_one_address_share_the_limit_of_emails_with_a_code() {
    let limits = Limits::off().with(Rule::SendCodeRecipientServer, Some(Rate::new(3, 600)));
    let app = TestApp::start_with(limits).await;
    for _ in 0..3 {
        assert_eq!(app.server().post(PATH, to("grace@example.com")).await.status(), 200);
    }
    for alias in ["grace@example.com", "Grace+x@example.com"] {
        let refused = app.server().post(PATH, to(alias)).await;
        assert_eq!((refused.status(), &refused.json()["details"]["limit"]), (429, &json!("send-code")), "{alias}");
    }
    assert_eq!(app.server().post(PATH, to("ada@example.com")).await.status(), 200);
    app.advance(SignedDuration::from_secs(1200));
    assert_eq!(app.server().post(PATH, to("grace@example.com")).await.status(), 200);
    assert_eq!(app.mails("grace@example.com").await.len(), 4);
}

#[tokio::test]
async fn invitations_to_strangers_leave_capacity_for_verified_users() {
    let app = TestApp::start_sending(10).await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    app.advance(SignedDuration::from_hours(2));
    for number in 0..10 {
        assert_eq!(app.server().post(PATH, to(&format!("guest{number}@example{number}.com"))).await.status(), 200);
    }
    app.send_emails().await;
    let sent = app.server().get(&format!("{}?status=sent", super::OUTBOX)).await.json();
    let invited = sent["items"].as_array().unwrap().iter().filter(|entry| entry["subject"].as_str().unwrap().contains("invited")).count();
    assert!((1..10).contains(&invited), "{invited}");
    super::send(&app, &ada, json!({ "subject": "for a verified user" })).await;
    assert_eq!(app.last_mail(&ada.email).await.0.subject, "for a verified user");
}
