//! Against an emulator of SES v2, which `tests/ses/run` starts and names by `SES_EMULATOR`.

use serde_json::{Value, json};

use super::{outbox, ses};

/// Where the emulator answers; none: these tests are passed over, and `tests/ses/run` is what runs them.
fn emulator() -> String {
    std::env::var("SES_EMULATOR").unwrap_or_else(|_| panic!("tests/ses/run starts the emulator, and names it by SES_EMULATOR"))
}

fn client() -> reqwest::Client {
    // The emulator has no TLS, but the client is not made without it.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// Lets the emulator send for an address, as an operator does in SES.
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
async fn a_mail_of_a_sender_that_is_verified_is_taken_once() {
    let url = emulator();
    verify(&url, "noreply@example.com").await;
    let subject = format!("Emulated {}", std::process::id());
    let (app, id) = outbox(json!({ "subject": subject })).await;
    app.deliver_by(&ses(&url, None)).await;
    app.deliver_by(&ses(&url, None)).await;
    assert_eq!(app.outbox_entry(&id).await["status"], "sent", "{}", app.outbox_entry(&id).await);
    let taken = messages(&url).await.into_iter().filter(|message| message.to_string().contains(&subject)).collect::<Vec<_>>();
    assert_eq!(taken.len(), 1, "{taken:?}");
    assert!(taken[0].to_string().contains("ada@example.com"), "{taken:?}");
}

#[tokio::test]
#[ignore = "needs the emulator of tests/ses/run"]
async fn a_mail_of_a_sender_that_is_not_verified_is_rejected_in_the_words_of_the_service() {
    let url = emulator();
    let (app, id) = outbox(json!({})).await;
    let sender =
        json!({ "config": { "email_config": { "type": "standard", "sender_name": "X", "sender_email": "x@unverified.example" } } });
    app.configure(sender).await;
    app.deliver_by(&ses(&url, None)).await;
    let entry = app.outbox_entry(&id).await;
    assert_eq!(entry["status"], "server-error");
    let error = &entry["send_attempt_errors"][0];
    assert_eq!(error["external_details"]["errorType"], "REJECTED");
    assert!(error["internal_message"].as_str().unwrap().contains("not verified"), "{error}");
}
