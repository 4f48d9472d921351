//! Creating, reading, changing and deleting endpoints.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::json;
use support::TestApp;
use support::receiver::Receiver;

use super::{ENDPOINTS, create_user, endpoint, endpoint_at, path};

#[tokio::test]
async fn a_secret_is_shown_once_and_stored_sealed() {
    let app = TestApp::start().await;
    let created = endpoint(&app, json!({ "url": "https://example.com/hooks", "description": "Billing" })).await;
    let secret = created["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 6 + 44, "{secret}");
    let read = app.admin().get(&path(&created, "")).await;
    let expected = json!({
        "id": created["id"], "url": "https://example.com/hooks", "description": "Billing", "event_types": [], "custom_headers": {},
        "enabled": true, "disabled_reason": null, "created_at_millis": app.now().as_millisecond(),
        "updated_at_millis": app.now().as_millisecond(), "secret_last_four": &secret[secret.len() - 4..], "last_delivery": null,
    });
    assert_eq!(read.json(), expected);
    let table = format!("{:?}", app.table());
    assert!(!table.contains(&secret[6..]), "the secret is readable in the table");
}

#[tokio::test]
async fn a_url_must_be_a_public_one() {
    let app = TestApp::start().await;
    let strict = app.redeployed(|settings| settings.allow_private_issuers = false);
    for url in [
        "http://example.com/",
        "http://localhost:3000/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://10.0.0.1/",
        "https://169.254.169.254/latest",
        "https://[fd00:ec2::254]/",
        "https://2130706433/",
        "ftp://example.com/",
        "https://user:secret@example.com/",
        "https://example.com/#x",
        "nonsense",
        "",
    ] {
        let answer = strict.admin().post(ENDPOINTS, json!({ "url": url })).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "WEBHOOK_URL_NOT_ALLOWED"), "{url}");
        assert!(answer.json()["details"]["reason"].is_string(), "{url}");
    }
    let created = endpoint(&strict, json!({ "url": "https://example.com/" })).await;
    let moved = strict.admin().patch(&path(&created, ""), json!({ "url": "https://192.168.0.1/" })).await;
    assert_eq!(moved.code(), "WEBHOOK_URL_NOT_ALLOWED");
    // In development, an endpoint may be on this machine. Only endpoints on this machine may use
    // plain HTTP.
    assert_eq!(app.admin().post(ENDPOINTS, json!({ "url": "http://localhost:3000/" })).await.status(), 201);
    assert_eq!(app.admin().post(ENDPOINTS, json!({ "url": "http://example.com/" })).await.code(), "WEBHOOK_URL_NOT_ALLOWED");
}

#[tokio::test]
async fn concurrent_creations_never_exceed_twenty_endpoints() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let creations = (0..24).map(|_| admin.post(ENDPOINTS, json!({ "url": "https://example.com/" })));
    let answers = join_all(creations).await;
    // A creation is also refused if it has conflicted with other creations too often.
    let created = answers.iter().filter(|answer| answer.status() == 201).count();
    for _ in created..20 {
        assert_eq!(app.admin().post(ENDPOINTS, json!({ "url": "https://example.com/" })).await.status(), 201);
    }
    let refused = app.admin().post(ENDPOINTS, json!({ "url": "https://example.com/" })).await;
    assert_eq!((refused.code().as_str(), &refused.json()["details"]), ("TOO_MANY_WEBHOOK_ENDPOINTS", &json!({ "limit": 20 })));
    let all = app.admin().get(ENDPOINTS).await.json();
    assert_eq!(all["items"].as_array().unwrap().len(), 20);
    assert_eq!(app.admin().delete(&path(&all["items"][0], "")).await.status(), 200);
    assert_eq!(app.admin().post(ENDPOINTS, json!({ "url": "https://example.com/" })).await.status(), 201);
}

#[tokio::test]
async fn endpoints_are_listed_in_pages() {
    let app = TestApp::start().await;
    for _ in 0..5 {
        endpoint(&app, json!({ "url": "https://example.com/" })).await;
    }
    let (mut seen, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let page = app.admin().get(&format!("{ENDPOINTS}?limit=2{cursor}")).await.json();
        seen.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()));
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen.len(), 5);
    assert_eq!(app.admin().get(&format!("{ENDPOINTS}?cursor=forged")).await.code(), "INVALID_CURSOR");
}

#[tokio::test]
async fn values_of_custom_headers_are_secrets() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let headers = json!({ "Authorization": "Bearer t0p-s3cret", "x-team": "billing" });
    let created = endpoint(&app, json!({ "url": receiver.url, "event_types": ["user.created"], "custom_headers": headers })).await;
    assert_eq!(created["custom_headers"], json!({ "authorization": "********", "x-team": "********" }));
    assert!(!format!("{:?}", app.table()).contains("t0p-s3cret"));
    let kept = json!({ "custom_headers": { "authorization": "********", "x-other": "1" } });
    assert_eq!(app.admin().patch(&path(&created, ""), kept).await.status(), 200);
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    let received = &receiver.received()[0];
    assert_eq!((received.header("authorization"), received.header("x-other")), ("Bearer t0p-s3cret", "1"));
    assert!(received.headers.get("x-team").is_none());
    for headers in
        [json!({ "host": "evil.example" }), json!({ "webhook-id": "x" }), json!({ "x-a": "x\r\nhost: y" }), json!({ "x-new": "********" })]
    {
        let answer = app.admin().patch(&path(&created, ""), json!({ "custom_headers": headers })).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{headers}");
    }
}

#[tokio::test]
async fn values_of_custom_headers_do_not_follow_a_changed_url() {
    let (app, receiver, evil) = (TestApp::start().await, Receiver::start().await, Receiver::start().await);
    let headers = json!({ "authorization": "Bearer t0p-s3cret", "x-team": "billing" });
    let created = endpoint(&app, json!({ "url": receiver.url, "event_types": ["user.created"], "custom_headers": headers })).await;
    let change = async |body| app.admin().patch(&path(&created, ""), body).await;
    let hidden = json!({ "authorization": "********", "x-team": "billing" });
    // The first URL has a different host. The second URL has a different path on the same host, and
    // may belong to another person.
    for url in [evil.url.clone(), format!("{}/others", receiver.url)] {
        for body in [
            json!({ "url": url }),
            json!({ "url": url, "enabled": true, "description": "mine" }),
            json!({ "url": url, "custom_headers": hidden }),
            json!({ "url": url, "custom_headers": { "AUTHORIZATION": "********" } }),
        ] {
            let refused = change(body.clone()).await;
            assert_eq!((refused.status(), refused.code().as_str()), (400, "SCHEMA_ERROR"), "{body}");
            assert!(refused.text().contains("body.custom_headers must contain the value"), "{}", refused.text());
        }
    }
    assert_eq!(app.admin().get(&path(&created, "")).await.json()["url"], receiver.url, "nothing was changed");
    // The console's form sends the URL with every change.
    let same = json!({ "url": receiver.url, "description": "Billing", "custom_headers": { "authorization": "********" } });
    assert_eq!(change(same).await.status(), 200);
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    assert_eq!(receiver.received()[0].header("authorization"), "Bearer t0p-s3cret");
    let moved = json!({ "url": evil.url, "custom_headers": { "authorization": "Bearer new" } });
    assert_eq!(change(moved).await.status(), 200);
    assert_eq!(change(json!({ "url": receiver.url, "custom_headers": {} })).await.status(), 200);
    assert_eq!(change(json!({ "url": evil.url })).await.status(), 200, "without headers, the URL alone changes");
    create_user(&app, "Bob").await;
    app.deliver_webhooks().await;
    assert_eq!((evil.received().len(), evil.received()[0].headers.get("authorization")), (1, None));
}

#[tokio::test]
async fn both_secrets_sign_while_a_rotation_lasts() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    let old = created["secret"].as_str().unwrap();
    let rotated = app.admin().post(&path(&created, "/rotate-secret"), json!({ "expire_previous_in_millis": 3_600_000 })).await;
    let new = rotated.json()["secret"].as_str().unwrap().to_owned();
    assert_ne!(old, new);
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    app.advance(jiff::SignedDuration::from_hours(2));
    create_user(&app, "Bob").await;
    app.deliver_webhooks().await;
    let received = receiver.received();
    assert!(received[0].is_signed_with(old) && received[0].is_signed_with(&new));
    assert!(!received[1].is_signed_with(old) && received[1].is_signed_with(&new));
    let long = app.admin().post(&path(&created, "/rotate-secret"), json!({ "expire_previous_in_millis": 172_800_001 })).await;
    assert_eq!(long.code(), "SCHEMA_ERROR");
    assert_eq!(app.admin().post(&path(&created, "/rotate-secret"), json!({})).await.status(), 200);
}

#[tokio::test]
async fn types_of_events_are_checked() {
    let app = TestApp::start().await;
    let unknown = app.admin().post(ENDPOINTS, json!({ "url": "https://example.com/", "event_types": ["user.exploded"] })).await;
    assert_eq!(unknown.code(), "SCHEMA_ERROR");
    let twice = endpoint(&app, json!({ "url": "https://example.com/", "event_types": ["user.created", "user.created"] })).await;
    assert_eq!(twice["event_types"], json!(["user.created"]));
}

#[tokio::test]
async fn a_deleted_endpoint_receives_nothing_more() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    let created = endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    assert_eq!(app.record_webhooks().await, 1);
    assert_eq!(app.admin().delete(&path(&created, "")).await.status(), 200);
    assert_eq!(app.admin().delete(&path(&created, "")).await.code(), "WEBHOOK_ENDPOINT_NOT_FOUND");
    app.deliver_webhooks().await;
    assert!(receiver.received().is_empty());
    let left: Vec<_> = app.table().into_keys().filter(|(pk, _)| pk.starts_with("W#")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[tokio::test]
async fn the_endpoints_of_a_deleted_project_are_deleted() {
    let (app, receiver) = (TestApp::start().await, Receiver::start().await);
    endpoint_at(&app, &receiver, &["user.created"]).await;
    create_user(&app, "Ada").await;
    app.deliver_webhooks().await;
    assert_eq!(app.admin().delete("/api/v1/internal/projects/current").await.status(), 200);
    app.end_deletions().await;
    let left: Vec<_> = app.table().into_keys().filter(|(pk, _)| pk.starts_with("W#")).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(!app.app.store.has_webhooks().await.unwrap());
}
