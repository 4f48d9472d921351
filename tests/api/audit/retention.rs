//! How long entries of the audit log are kept: `audit_log_retention_days`.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;
use wire::clock::Clock;

use super::{DAY, assert_error, entries, rename};

const CURRENT: &str = "/api/v1/internal/projects/current";
const CONFIG: &str = "/api/v1/internal/config";
const OVERRIDE: &str = "/api/v1/internal/config/override/branch";

/// When the trail's entries expire, in days after [`support::START`].
fn expiries(app: &TestApp) -> Vec<i64> {
    let start = support::START.parse::<jiff::Timestamp>().unwrap().as_second();
    let of_entries = app.table().into_iter().filter(|((pk, _), _)| pk.contains("#TRAIL#"));
    of_entries.map(|(_, item)| (item["ttl"]["N"].as_str().unwrap().parse::<i64>().unwrap() - start) / 86_400).collect()
}

#[tokio::test]
async fn new_entries_are_kept_for_the_configured_time() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "audit_log_retention_days": 400 } })).await;
    rename(&app, &ada, "A").await;
    app.configure(json!({ "config": { "audit_log_retention_days": 1 } })).await;
    rename(&app, &ada, "B").await;
    let mut found = expiries(&app);
    found.sort_unstable();
    // The entry about a change of the setting still has the previous retention period.
    assert_eq!(found, [1, 90, 90, 400, 400]);
}

#[tokio::test]
async fn expired_entries_are_hidden_before_they_are_deleted() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "audit_log_retention_days": 2 } })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(DAY * 2 - SignedDuration::from_secs(1));
    assert_eq!(entries(&app, &format!("user_id={}", ada.user_id)).await.len(), 1);
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(expiries(&app).len(), 2);
    assert_eq!(entries(&app, &format!("user_id={}", ada.user_id)).await.len(), 0);
    let left = entries(&app, "").await;
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(left[0]["operation"], "projects-internal-current-update");
}

#[tokio::test]
async fn a_gateway_deletes_expired_entries() {
    let app = TestApp::start().await;
    // Expiry depends on the machine's clock, which is ahead of the tests' clock, so entries with a
    // retention period of one day have expired.
    let ada = app.sign_up("ada@example.com").await;
    app.configure(json!({ "config": { "audit_log_retention_days": 1 } })).await;
    rename(&app, &ada, "A").await;
    let before = app.table();
    let expired = before
        .values()
        .filter(|item| item["ttl"]["N"].as_str().is_some_and(|ttl| ttl.parse::<i64>().unwrap() <= Clock::system().now().as_second()));
    let expired = expired.count();
    assert!(expired > 0 && expired < before.len());
    assert_eq!(app.delete_expired().await, expired);
    assert_eq!(app.table().len(), before.len() - expired);
    assert_eq!(app.delete_expired().await, 0);
}

#[tokio::test]
async fn the_retention_is_a_configuration_key() {
    let app = TestApp::start().await;
    let days = async || {
        let setting = app.admin().get(CURRENT).await.json()["config"]["audit_log_retention_days"].clone();
        let key = app.admin().get(CONFIG).await.json();
        let key: Value = serde_json::from_str(key["config_string"].as_str().unwrap()).unwrap();
        assert_eq!(key["auditLog"]["retentionDays"], setting);
        setting
    };
    assert_eq!(days().await, 90);
    let set = |days: Value| {
        app.admin()
            .request("PATCH", OVERRIDE)
            .json(&json!({ "config_override_string": json!({ "auditLog.retentionDays": days }).to_string() }))
            .send()
    };
    assert_eq!(set(json!(30)).await.status(), 200);
    assert_eq!(days().await, 30);
    for wrong in [json!(0), json!(401), json!(-1), json!("90"), json!(1.5)] {
        let answer = set(wrong.clone()).await;
        assert_error(&answer, 400, "SCHEMA_ERROR");
        assert!(answer.text().contains("auditLog.retentionDays"), "{}", answer.text());
        let answer = app.admin().patch(CURRENT, json!({ "config": { "audit_log_retention_days": wrong } })).await;
        assert_error(&answer, 400, "SCHEMA_ERROR");
        assert!(answer.text().contains("config.audit_log_retention_days"), "{}", answer.text());
    }
    assert_eq!(days().await, 30);
}
