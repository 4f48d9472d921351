//! Emails with codes are counted by recipient and by the caller's IP address, even if the recipient
//! does not have an account.

use model::limit::{Limits, Rule};
use serde_json::json;
use support::TestApp;

use super::*;

async fn standard(rule: Rule) -> TestApp {
    let app = TestApp::start_with(Limits::off().with(rule, Some(rule.standard()))).await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    app
}

const SEND_SIGN_IN: &str = "/api/v1/auth/otp/send-sign-in-code";

#[tokio::test]
async fn a_recipient_gets_5_codes_of_all_kinds_in_10_minutes() {
    let app = standard(Rule::SendCodeRecipient).await;
    let verified = json!({ "email": "ada@example.com", "password": "correct horse battery",
        "verification_callback_url": "http://localhost:3000/verify" });
    assert_eq!(app.client().post(SIGN_UP, verified).await.status(), 200);
    let client = app.client();
    let (let_through, refused) = exhaust(|_| client.post(SEND_RESET, reset_of("ada@example.com"))).await;
    assert_eq!(let_through, 4);
    assert_refused(&refused, "send-code", Rule::SendCodeRecipient.standard());
    assert_eq!(app.mails("ada@example.com").await.len(), 5);

    assert_eq!(client.post(SEND_RESET, reset_of("bob@example.com")).await.status(), 200);
    // Server requests are counted separately.
    assert_eq!(app.server().post(SEND_RESET, reset_of("ada@example.com")).await.status(), 200);
}

#[tokio::test]
async fn recipients_with_and_without_an_account_are_limited_alike() {
    let app = standard(Rule::SendCodeRecipient).await;
    app.sign_up("ada@example.com").await;
    let client = app.client();
    for email in ["ada@example.com", "nobody@example.com"] {
        let (let_through, refused) = exhaust(|_| client.post(SEND_RESET, reset_of(email))).await;
        assert_eq!(let_through, 5, "{email}");
        assert_refused(&refused, "send-code", Rule::SendCodeRecipient.standard());
    }
    let (let_through, _) =
        exhaust(|_| client.post(SEND_SIGN_IN, json!({ "email": "new@example.com", "callback_url": "http://localhost:3000/in" }))).await;
    assert_eq!((let_through, app.mails("new@example.com").await.len()), (5, 5));
}

#[tokio::test]
async fn servers_can_send_30_codes_to_a_recipient_in_10_minutes() {
    let app = standard(Rule::SendCodeRecipientServer).await;
    let server = app.server();
    let (let_through, refused) = exhaust(|_| server.post(SEND_RESET, reset_of("ada@example.com"))).await;
    assert_eq!(let_through, 30);
    assert_refused(&refused, "send-code", Rule::SendCodeRecipientServer.standard());
}

#[tokio::test]
async fn an_address_can_request_30_codes_in_10_minutes() {
    let app = standard(Rule::SendCode).await;
    let client = app.client();
    let (let_through, refused) = exhaust(|number| client.post(SEND_RESET, reset_of(&format!("user{number}@example.com")))).await;
    assert_eq!(let_through, 30);
    assert_refused(&refused, "send-code", Rule::SendCode.standard());
    assert_eq!(app.server().post(SEND_RESET, reset_of("ada@example.com")).await.status(), 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_do_not_exceed_the_email_limit() {
    let app = standard(Rule::SendCodeRecipient).await;
    let client = app.client();
    let body = json!({ "email": "new@example.com", "callback_url": "http://localhost:3000/in" });
    let requests: Vec<_> = (0..40)
        .map(|_| {
            let (client, body) = (client.clone(), body.clone());
            tokio::spawn(async move { client.post(SEND_SIGN_IN, body).await.status() })
        })
        .collect();
    let mut sent = 0;
    for request in requests {
        let status = request.await.unwrap();
        assert!([200, 429].contains(&status), "{status}");
        sent += usize::from(status == 200);
    }
    assert_eq!((sent, app.mails("new@example.com").await.len()), (5, 5));
}

fn verified_sign_up(email: &str) -> serde_json::Value {
    json!({ "email": email, "password": "correct horse battery", "verification_callback_url": "http://localhost:3000/verify" })
}

/// A sign-up counts the recipient before it finds out whether the address is free.
#[tokio::test]
async fn a_sign_up_that_fails_counts_no_email() {
    let app = standard(Rule::SendCodeRecipient).await;
    for status in [200, 409, 409, 409, 409, 409, 409] {
        assert_eq!(app.client().post(SIGN_UP, verified_sign_up("ada@example.com")).await.status(), status);
    }
    let client = app.client();
    let (let_through, _) = exhaust(|_| client.post(SEND_RESET, reset_of("ada@example.com"))).await;
    assert_eq!(let_through, 4);
    // At the limit, an address with an account gets the same response as any other address.
    assert!(is_refused(&client.post(SIGN_UP, verified_sign_up("ada@example.com")).await));
}

#[tokio::test]
async fn concurrent_sign_ups_email_a_recipient_as_often_as_the_limit_permits() {
    let app = standard(Rule::SendCodeRecipient).await;
    let client = app.client();
    let sign_ups = (0..12).map(|number| client.post(SIGN_UP, verified_sign_up(&format!("ada+{number}@example.com"))));
    let statuses: Vec<u16> = futures_util::future::join_all(sign_ups).await.iter().map(support::Answer::status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 5, "{statuses:?}");
    assert!(is_refused(&client.post(SIGN_UP, verified_sign_up("ada@example.com")).await));
}
