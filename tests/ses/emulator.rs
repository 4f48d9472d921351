//! Tests against an emulator of SES v2, which `tests/ses/run` starts. The emulator's URL is in
//! `SES_EMULATOR`.

use std::time::Duration;

use email::ses::Ses;
use serde_json::{Value, json};

use super::{outbox, ses_that_waits};

/// The URL of the emulator, which `tests/ses/run` sets. Other runs ignore these tests.
fn emulator() -> String {
    std::env::var("SES_EMULATOR").unwrap_or_else(|_| panic!("SES_EMULATOR is not set: run tests/ses/run, which starts the emulator"))
}

/// A sender for the emulator, with the timeouts of a deployment.
fn ses(url: &str) -> Ses {
    ses_that_waits(Duration::from_secs(20), url, None)
}

fn client() -> reqwest::Client {
    // The emulator does not support TLS, but the client requires a TLS provider.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// Verifies an address in the emulator, as an operator would do in SES.
async fn verify(url: &str, address: &str) {
    let answer = client()
        .post(format!("{url}/v2/email/identities"))
        .header("authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/eu-central-1/ses/aws4_request, SignedHeaders=host, Signature=x")
        .json(&json!({ "EmailIdentity": address }))
        .send()
        .await
        .unwrap();
    assert!(answer.status().is_success() || answer.status() == 400, "{}", answer.text().await.unwrap());
}

async fn messages(url: &str) -> Vec<Value> {
    let all: Value = client().get(format!("{url}/_ministack/ses/messages")).send().await.unwrap().json().await.unwrap();
    let mailboxes = all["messages"].as_object().unwrap().values();
    mailboxes.flat_map(|mailbox| mailbox.as_array().cloned().unwrap_or_else(|| vec![mailbox.clone()])).collect()
}

#[tokio::test]
#[ignore = "needs the emulator of tests/ses/run"]
async fn an_email_from_a_verified_sender_is_accepted_once() {
    let url = emulator();
    verify(&url, "noreply@example.com").await;
    let subject = format!("Emulated {}", std::process::id());
    let (app, id) = outbox(json!({ "subject": subject })).await;
    app.send_emails_by(&ses(&url)).await;
    app.send_emails_by(&ses(&url)).await;
    assert_eq!(app.outbox_entry(&id).await["status"], "sent", "{}", app.outbox_entry(&id).await);
    let taken = messages(&url).await.into_iter().filter(|message| message.to_string().contains(&subject)).collect::<Vec<_>>();
    assert_eq!(taken.len(), 1, "{taken:?}");
    assert!(taken[0].to_string().contains("ada@example.com"), "{taken:?}");
}

#[tokio::test]
#[ignore = "needs the emulator of tests/ses/run"]
async fn an_email_from_an_unverified_sender_is_rejected_with_ses_s_message() {
    let url = emulator();
    let (app, id) = outbox(json!({})).await;
    let sender =
        json!({ "config": { "email_config": { "type": "standard", "sender_name": "X", "sender_email": "x@unverified.example" } } });
    app.configure(sender).await;
    app.send_emails_by(&ses(&url)).await;
    let entry = app.outbox_entry(&id).await;
    assert_eq!(entry["status"], "server-error");
    let error = &entry["send_attempt_errors"][0];
    assert_eq!(error["external_details"]["errorType"], "REJECTED");
    assert!(error["internal_message"].as_str().unwrap().contains("not verified"), "{error}");
}
