//! Sending while SES rejects requests, does not respond, or closes the connection. An email is
//! retried only if it was certainly not sent.

use std::net::TcpStream;
use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;
use support::steady_time::SteadyTime;

use super::endpoint::{Behaviour, Endpoint};
use super::{outbox, ses, ses_that_waits};

pub(crate) fn taken() -> Behaviour {
    Behaviour::Answer(200, json!({ "MessageId": "0107" }))
}

pub(crate) fn refused(status: u16, code: &str) -> Behaviour {
    Behaviour::Answer(status, json!({ "__type": code, "message": format!("{code}, says SES") }))
}

/// A URL with a port that no server listens on.
fn unreachable() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

/// Sends an email through an endpoint that behaves in these ways. Returns the service, the
/// endpoint, and the entry and the id of the email in the outbox.
async fn sent(behaviours: Vec<Behaviour>) -> (TestApp, Endpoint, Value, String) {
    let endpoint = Endpoint::start(behaviours).await;
    let (app, id) = outbox(json!({})).await;
    app.send_emails_by(&ses(&endpoint.url, Some("gatelet"))).await;
    let entry = app.outbox_entry(&id).await;
    (app, endpoint, entry, id)
}

#[tokio::test]
async fn an_email_carries_its_content_tags_and_configuration_set() {
    let (app, endpoint, entry, id) = sent(vec![taken()]).await;
    assert_eq!((&entry["status"], &entry["can_have_delivery_info"]), (&json!("sent"), &json!(true)));
    let requests = endpoint.requests();
    assert_eq!(requests.len(), 1);
    let request = &requests[0];
    assert_eq!(request["FromEmailAddress"], "\"Development\" <noreply@example.com>");
    assert_eq!(request["Destination"], json!({ "ToAddresses": ["ada@example.com"] }));
    assert_eq!(request["ConfigurationSetName"], "gatelet");
    let content = &request["Content"]["Simple"];
    assert_eq!(content["Subject"], json!({ "Data": "Grüße aus Köln", "Charset": "UTF-8" }));
    assert_eq!(content["Body"]["Html"]["Data"], "<p>Hello Ünion</p>");
    assert!(content["Body"]["Text"]["Data"].as_str().unwrap().contains("Hello"));
    let tags = request["EmailTags"].as_array().unwrap();
    let tag = |name: &str| tags.iter().find(|tag| tag["Name"] == name).unwrap()["Value"].clone();
    assert_eq!((tag("gatelet-entry"), tag("gatelet-project")), (json!(id), json!(app.project_id())));
    assert_eq!(tag("gatelet-attempt"), entry["started_sending_at_millis"].to_string());
}

#[tokio::test]
async fn a_sender_s_name_in_any_script_is_encoded() {
    let endpoint = Endpoint::start(vec![taken()]).await;
    let app = TestApp::start().await;
    app.configure(json!({ "display_name": "Café Zoë, 東京の認証サービスとその仲間たちの長い名前" })).await;
    let id = app.send_mail(json!({})).await;
    app.send_emails_by(&ses(&endpoint.url, None)).await;
    assert_eq!(app.outbox_entry(&id).await["status"], "sent");
    let from = endpoint.requests()[0]["FromEmailAddress"].as_str().unwrap().to_owned();
    assert!(from.starts_with("=?utf-8?b?") && from.ends_with(" <noreply@example.com>"), "{from}");
    assert!(from.split(' ').all(|word| word.len() <= 75), "{from}");
}

#[tokio::test]
async fn without_a_configuration_set_no_reports_are_expected() {
    let endpoint = Endpoint::start(vec![taken()]).await;
    let (app, id) = outbox(json!({})).await;
    app.send_emails_by(&ses(&endpoint.url, None)).await;
    let entry = app.outbox_entry(&id).await;
    assert_eq!((&entry["status"], &entry["can_have_delivery_info"]), (&json!("sent"), &json!(false)));
    assert_eq!(endpoint.requests()[0]["ConfigurationSetName"], Value::Null);
}

#[tokio::test]
async fn after_five_attempts_the_server_error_lists_all_of_them() {
    let (app, id) = outbox(json!({})).await;
    let url = unreachable();
    for _ in 0..10 {
        app.send_emails_by(&ses(&url, None)).await;
        app.advance(SignedDuration::from_mins(10));
    }
    let entry = app.outbox_entry(&id).await;
    assert_eq!(entry["status"], "server-error");
    let errors = entry["send_attempt_errors"].as_array().unwrap();
    assert_eq!(errors.iter().map(|error| error["attempt_number"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn a_permanent_ses_rejection_is_not_retried() {
    for (status, code, class) in [
        (400, "MessageRejected", "REJECTED"),
        (400, "MailFromDomainNotVerifiedException", "REJECTED"),
        (400, "BadRequestException", "REJECTED"),
        (404, "NotFoundException", "REJECTED"),
        (403, "AccessDeniedException", "AUTH_FAILED"),
        (403, "InvalidSignatureException", "AUTH_FAILED"),
    ] {
        let (app, endpoint, entry, _) = sent(vec![refused(status, code), taken()]).await;
        assert_eq!(entry["status"], "server-error", "{code}");
        let error = &entry["send_attempt_errors"][0];
        assert_eq!(error["external_details"]["errorType"], class, "{code}");
        assert!(error["internal_message"].as_str().unwrap().contains(&format!("{code}, says SES")), "{error}");
        app.advance(SignedDuration::from_hours(2));
        app.send_emails_by(&ses(&endpoint.url, None)).await;
        assert_eq!(endpoint.requests().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn an_email_of_unknown_outcome_is_not_resent() {
    for behaviour in [
        Behaviour::CutBeforeReading,
        Behaviour::CutAfterReading,
        Behaviour::CutWhileAnswering,
        Behaviour::Silence,
        refused(500, "InternalFailure"),
        refused(503, "ServiceUnavailable"),
    ] {
        let (app, endpoint, entry, id) = sent(vec![behaviour.clone(), taken()]).await;
        assert_eq!(entry["status"], "server-error", "{behaviour:?}");
        assert_eq!(entry["send_attempt_errors"][0]["external_details"]["errorType"], "UNKNOWN", "{behaviour:?}");
        assert!(entry["server_error"].as_str().unwrap().contains("may or may not have been sent"), "{entry}");
        let before = endpoint.requests().len();
        app.advance(SignedDuration::from_hours(2));
        app.send_emails_by(&ses(&endpoint.url, None)).await;
        assert_eq!((endpoint.requests().len(), app.outbox_entry(&id).await), (before, entry), "{behaviour:?}");
    }
}

#[tokio::test]
async fn an_unreachable_email_service_is_retried() {
    let (app, id) = outbox(json!({})).await;
    app.send_emails_by(&ses(&unreachable(), None)).await;
    let first = app.outbox_entry(&id).await;
    assert_eq!((&first["status"], &first["send_retries"]), (&json!("scheduled"), &json!(1)), "{first}");

    let endpoint = Endpoint::start(vec![taken()]).await;
    app.advance(SignedDuration::from_secs(60));
    app.send_emails_by(&ses(&endpoint.url, None)).await;
    assert_eq!((&app.outbox_entry(&id).await["status"], endpoint.requests().len()), (&json!("sent"), 1));
}

#[tokio::test]
async fn an_email_service_that_times_out_on_connect_is_retried() {
    // The socket never accepts connections, so they fill its queue. After that, no more connections
    // are established.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(connection) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        waiting.push(connection);
        assert!(waiting.len() < 100, "the queue of connections is never full");
    }
    let (app, id) = outbox(json!({})).await;
    app.send_emails_by(&ses_that_waits(Duration::from_secs(20), &format!("http://{address}"), None)).await;
    let first = app.outbox_entry(&id).await;
    assert_eq!((&first["status"], &first["send_retries"]), (&json!("scheduled"), &json!(1)), "{first}");
    assert_eq!(first["send_attempt_errors"][0]["external_details"]["errorType"], "TIMEOUT", "{first}");

    let endpoint = Endpoint::start(vec![taken()]).await;
    app.advance(SignedDuration::from_secs(60));
    app.send_emails_by(&ses(&endpoint.url, None)).await;
    assert_eq!((&app.outbox_entry(&id).await["status"], endpoint.requests().len()), (&json!("sent"), 1));
}

#[tokio::test]
async fn an_email_is_retried_if_the_connection_is_not_established_in_time() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let (app, id) = outbox(json!({})).await;
    let _time = SteadyTime::start();
    // The endpoint does not respond to the TLS handshake.
    let silent = async {
        let connection = listener.accept().await.unwrap();
        tokio::time::advance(Duration::from_secs(8)).await;
        connection
    };
    let ses = ses_that_waits(Duration::from_secs(20), &url, None);
    tokio::join!(app.send_emails_by(&ses), silent);
    let first = app.outbox_entry(&id).await;
    assert_eq!((&first["status"], &first["send_retries"]), (&json!("scheduled"), &json!(1)), "{first}");
    assert_eq!(first["send_attempt_errors"][0]["external_details"]["errorType"], "TIMEOUT", "{first}");
}
