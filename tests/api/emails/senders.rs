//! Sender addresses of projects that have not configured a mail server.

use serde_json::{Value, json};
use support::{Snapshot, TestApp};

const CURRENT: &str = "/api/v1/internal/projects/current";
const OVERRIDE: &str = "/api/v1/internal/config/override/environment";

fn sender(address: &str) -> Value {
    json!({ "type": "standard", "sender_name": "Notes", "sender_email": address })
}

/// A snapshot of a table that was written before the deployment restricted sender addresses. The
/// project in the snapshot sends from `address`.
async fn before(address: &str) -> Snapshot {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "email_config": sender(address) } })).await;
    app.snapshot()
}

async fn from(app: &TestApp, email: &str) -> String {
    app.sign_in_code(email).await;
    app.last_mail(email).await.0.from
}

#[tokio::test]
async fn senders_are_limited_to_the_addresses_of_the_deployment() {
    let snapshot = TestApp::start().await.snapshot();
    let app = TestApp::start_sending_from(&snapshot, "example.org, hello@example.net").await;
    for refused in ["ceo@bank.example", "notes@mail.example.org", "notes@example.org.evil.example", "other@example.net"] {
        let answer = app.admin().patch(CURRENT, json!({ "config": { "email_config": sender(refused) } })).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{}", answer.text());
        for told in ["body.config.email_config.sender_email", "noreply@example.com", "example.org", "hello@example.net", "`host`"] {
            assert!(answer.text().contains(told), "{told} in {}", answer.text());
        }
        let server = json!({ "isShared": false, "provider": "smtp", "senderName": "Notes", "senderEmail": refused });
        let body = json!({ "config_override_string": json!({ "emails.server": server }).to_string() });
        let answer = app.admin().patch(OVERRIDE, body).await;
        assert_eq!(answer.status(), 400, "{}", answer.text());
        assert!(answer.text().contains("emails.server.senderEmail"), "{}", answer.text());
    }
    assert_eq!(from(&app, "ada@example.com").await, "\"Development\" <noreply@example.com>");
    for allowed in ["notes@example.org", "hello@example.net", "noreply@example.com"] {
        app.configure(json!({ "config": { "email_config": sender(allowed) } })).await;
        app.advance(jiff::SignedDuration::from_secs(1));
        assert_eq!(from(&app, "ada@example.com").await, format!("\"Notes\" <{allowed}>"));
    }
}

#[tokio::test]
async fn a_project_s_own_mail_server_allows_any_sender_address() {
    let snapshot = TestApp::start().await.snapshot();
    let app = TestApp::start_sending_from(&snapshot, "").await;
    let mut own = sender("notes@example.org");
    own["host"] = json!("mail.example.org");
    own["port"] = json!(587);
    app.configure(json!({ "config": { "email_config": own } })).await;
    let answer = app.admin().patch(CURRENT, json!({ "config": { "email_config": sender("notes@example.org") } })).await;
    assert_eq!(answer.status(), 400, "{}", answer.text());
    assert!(answer.text().contains("sender_email"), "{}", answer.text());
    app.configure(json!({ "config": { "email_config": { "type": "shared" } } })).await;
}

#[tokio::test]
async fn an_old_sender_is_replaced_and_does_not_block_other_settings() {
    let snapshot = before("notes@example.org").await;
    let app = TestApp::start_sending_from(&snapshot, "").await;
    assert_eq!(from(&app, "ada@example.com").await, "\"Notes\" <noreply@example.com>");
    app.configure(json!({ "config": { "email_config": sender("notes@example.org"), "magic_link_enabled": false } })).await;
    let answer = app.admin().patch(CURRENT, json!({ "config": { "email_config": sender("other@example.org") } })).await;
    assert_eq!(answer.status(), 400, "{}", answer.text());
    // Once the operator permits the address, it is used again.
    let app = TestApp::start_sending_from(&snapshot, "example.org").await;
    assert_eq!(from(&app, "ada@example.com").await, "\"Notes\" <notes@example.org>");
}
