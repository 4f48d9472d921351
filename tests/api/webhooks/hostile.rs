//! Misbehaving receivers and forbidden addresses.

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;
use support::receiver::{Receiver, Reply};
use support::until::until;
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, timeout};

use super::{create_user, deliveries, endpoint, endpoint_at};

#[tokio::test]
async fn a_redirect_is_a_failure_and_is_not_followed() {
    let (app, inside) = (TestApp::start().await, Receiver::start().await);
    let outside = Receiver::answering(vec![Reply::Redirect(inside.url.clone())]).await;
    let created = endpoint_at(&app, &outside, &["user.created"]).await;
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    assert_eq!((outside.received().len(), inside.received().len()), (1, 0));
    assert_eq!(deliveries(&app, &created).await[0]["attempts"][0]["response_status"], 307);
}

#[tokio::test]
async fn a_name_that_resolves_to_a_private_address_is_not_called() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint(&app, json!({ "url": receiver.url.replace("127.0.0.1", "localhost"), "event_types": ["user.created"] })).await;
    let strict = app.redeployed(|settings| settings.allow_private_issuers = false);
    create_user(&strict, "Ada").await;
    strict.deliver_webhooks().await;
    assert!(receiver.received().is_empty());
    let attempt = &deliveries(&strict, &created).await[0]["attempts"][0];
    assert_eq!(
        (&attempt["response_status"], &attempt["error"]),
        (&json!(null), &json!("the endpoint cannot be reached: its host has no public address"))
    );
}

/// If the errors differed, administrators of projects could scan the deployment's network.
#[tokio::test]
async fn a_name_inside_the_network_and_an_unknown_one_are_not_told_apart() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let mut endpoints = Vec::new();
    for url in [receiver.url.replace("127.0.0.1", "localhost").as_str(), "https://nothing.invalid/"] {
        endpoints.push(endpoint(&app, json!({ "url": url, "event_types": ["user.created"] })).await);
    }
    let strict = app.redeployed(|settings| settings.allow_private_issuers = false);
    create_user(&strict, "Ada").await;
    for _ in 0..3 {
        strict.deliver_webhooks().await;
        strict.advance(SignedDuration::from_hours(1));
    }
    let mut seen = Vec::new();
    for endpoint in &endpoints {
        let delivery = deliveries(&strict, endpoint).await[0].clone();
        let attempts = delivery["attempts"].as_array().unwrap();
        assert_eq!(attempts.len(), 3, "{delivery}");
        let attempts: Vec<_> = attempts.iter().map(|attempt| (attempt["response_status"].clone(), attempt["error"].clone())).collect();
        seen.push((delivery["status"].clone(), attempts));
    }
    assert_eq!(seen[0], seen[1]);
    assert!(receiver.received().is_empty());
}

#[tokio::test]
async fn an_endless_body_is_read_up_to_a_kilobyte() {
    let (app, receiver) = (TestApp::start().await, Receiver::answering(vec![Reply::Endless]).await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    let delivered = timeout(Duration::from_secs(120), app.deliver_webhooks());
    assert!(delivered.await.is_ok(), "the rest of a body is not waited for");
    let delivery = &deliveries(&app, &created).await[0];
    assert_eq!(delivery["status"], "succeeded");
    assert!(delivery["attempts"][0]["response_body"].as_str().unwrap().len() <= 1024);
    receiver.reply(Reply::Text(200, "x".repeat(100_000)));
    create_user(&app, "Bob").await;
    app.deliver_webhooks().await;
    let bodies: Vec<usize> =
        deliveries(&app, &created).await.iter().map(|it| it["attempts"][0]["response_body"].as_str().unwrap().len()).collect();
    assert!(bodies.contains(&1024), "{bodies:?}");
}

#[tokio::test]
async fn a_slow_endpoint_delays_no_other() {
    let (app, slow, fast) = (TestApp::start().await, Receiver::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &slow, &["user.created"]).await;
    create_user(&app, "First").await;
    app.deliver_webhooks().await;
    slow.reply(Reply::Held(204));
    endpoint_at(&app, &fast, &["user.created"]).await;
    for name in ["Ada", "Bob", "Eve"] {
        create_user(&app, name).await;
    }
    let admin = app.admin();
    let test = admin.post("/api/v1/internal/send-test-webhook", json!({ "endpoint_id": created["id"] }));
    // The slow endpoint delays three deliveries and the test request, while the other endpoint gets
    // its deliveries. The clock advances only after these deliveries.
    let arrived = async {
        until("all requests arrive", || (slow.held(), fast.received().len()) == (4, 3)).await;
        tokio::time::pause();
        Instant::now()
    };
    let ((), arrived, tested) = tokio::join!(app.deliver_webhooks(), arrived, test);
    assert!(arrived.elapsed() < Duration::from_secs(20), "an endpoint may take ten seconds");
    tokio::time::resume();
    let all = deliveries(&app, &created).await;
    let delivery = all.iter().find(|delivery| delivery["status"] == "pending").unwrap();
    assert_eq!(delivery["attempts"][0]["error"], "no answer within 10 s");
    // On AWS, a test request must end before its function does.
    assert_eq!(tested.json(), json!({ "success": false, "error_message": "no answer within 7 s" }));
}

#[tokio::test]
async fn a_connection_that_is_cut_after_the_request_is_tried_again() {
    let app = TestApp::start().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let cutting = tokio::spawn(async move {
        let mut read = 0;
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut bytes = vec![0; 64 << 10];
            read += usize::from(stream.read(&mut bytes).await.unwrap_or_default() > 0);
            drop(stream);
            if read == 2 {
                return read;
            }
        }
        read
    });
    let created = endpoint(&app, json!({ "url": url, "event_types": ["user.created"] })).await;
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    let pending = &deliveries(&app, &created).await[0];
    assert_eq!((&pending["status"], pending["attempts"].as_array().unwrap().len()), (&json!("pending"), 1), "one attempt at a time");
    let error = pending["attempts"][0]["error"].as_str().unwrap();
    assert!(error.starts_with("the endpoint cannot be reached") && !error.contains("127.0.0.1"), "{error}");
    app.advance(jiff::SignedDuration::from_secs(10));
    app.deliver_webhooks().await;
    assert_eq!(cutting.await.unwrap(), 2);
}
