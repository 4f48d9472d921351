//! `GET /api/v1/internal/audit-log`.

use std::collections::HashSet;

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{ROUND_TRIP, TestApp};

use super::{AUDIT_LOG, DAY, assert_error, each, entries, page, pages, rename, wrong_password};

#[tokio::test]
async fn an_administrator_reads_the_trail_newest_first() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_mins(1));
    rename(&app, &ada, "Ada").await;
    app.advance(SignedDuration::from_mins(1));
    app.configure(json!({ "config": { "magic_link_enabled": true, "session_max_age_seconds": 86_400 } })).await;

    let all = entries(&app, "").await;
    assert_eq!(each(&all, "operation"), ["projects-internal-current-update", "users-user-update", "auth-password-sign-up"]);
    assert_eq!(each(&all, "at"), ["2026-01-01T12:02:00.000Z", "2026-01-01T12:01:00.000Z", "2026-01-01T12:00:00.000Z"]);
    assert_eq!(each(&all, "access"), ["admin", "server", "client"]);
    let (settings, renamed, sign_up) = (&all[0], &all[1], &all[2]);
    assert_eq!((&settings["actor"]["type"], &settings["actor"]["kind"]), (&json!("key"), &json!("super-secret-admin")));
    assert_eq!(
        (&settings["user_id"], &settings["fields"]),
        (&Value::Null, &json!(["config.magic_link_enabled", "config.session_max_age_seconds"]))
    );
    assert_eq!((&renamed["user_id"], &renamed["fields"]), (&json!(ada.user_id), &json!(["display_name"])));
    assert_eq!((&sign_up["actor"]["type"], &sign_up["actor"]["user_id"]), (&json!("user"), &json!(ada.user_id)));
    assert_eq!((&sign_up["events"], &sign_up["method"]), (&json!(["created", "sign-in"]), &json!(["pwd"])));
    assert_eq!((&sign_up["place"]["ip"], &sign_up["count"]), (&json!("127.0.0.1"), &json!(1)));
    assert!(!Value::from(all).to_string().contains("correct horse"), "no entry contains a value of the request");
}

#[tokio::test]
async fn clients_and_servers_cannot_read_the_trail() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for caller in [app.client(), app.server(), app.signed_in(&ada)] {
        assert_error(&caller.get(AUDIT_LOG).await, 403, "INSUFFICIENT_ACCESS_TYPE");
    }
    assert_error(&app.admin().without("x-stack-super-secret-admin-key").get(AUDIT_LOG).await, 401, "ADMIN_AUTHENTICATION_REQUIRED");
    let other = app.another_project().await;
    assert_eq!(page(&app.admin_of(&other), AUDIT_LOG).await, (Vec::new(), None), "another project has its own trail");
}

#[tokio::test]
async fn filters_return_only_matching_entries() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    app.advance(SignedDuration::from_secs(61));
    rename(&app, &ada, "Ada").await;
    rename(&app, &bob, "Bob").await;
    wrong_password(&app, "ada@example.com").await;
    let of = async |query: String| each(&entries(&app, &query).await, "operation").into_iter().cloned().collect::<Vec<_>>();

    let of_ada = of(format!("user_id={}", ada.user_id)).await;
    assert_eq!(of_ada, ["users-user-update", "auth-password-sign-in", "auth-password-sign-up"]);
    assert_eq!(of(format!("actor={}", ada.user_id)).await, ["auth-password-sign-up"]);
    let key = entries(&app, "operation=users-user-update&limit=1").await[0]["actor"]["key_set_id"].as_str().unwrap().to_owned();
    assert_eq!(of(format!("actor={key}")).await, ["users-user-update", "users-user-update"]);
    assert_eq!(of(format!("actor={key}&user_id={}", bob.user_id)).await, ["users-user-update"]);
    assert_eq!(of("event=sign-in-failed".to_owned()).await, ["auth-password-sign-in"]);
    assert_eq!(of("event=created".to_owned()).await.len(), 2);
    assert_eq!(of("operation=users-user-delete".to_owned()).await, Vec::<Value>::new());
    assert_eq!(of("from=2026-01-01T12:01:00Z".to_owned()).await.len(), 3);
    assert_eq!(of("until=2026-01-01T12:01:00Z".to_owned()).await.len(), 2);
    assert_eq!(of("from=2026-01-01T13:01:00%2B01:00&until=2026-01-01T12:02:00Z".to_owned()).await.len(), 3);
    assert_eq!(of("until=1999-01-01T00:00:00Z".to_owned()).await.len(), 0);
    assert_eq!(of(format!("user_id={}&from=2026-01-01T12:00:30Z", ada.user_id)).await.len(), 2);
    // Unknown ids, and ids of other kinds of objects, match nothing.
    assert_eq!(of(format!("user_id={}", uuid::Uuid::nil())).await.len(), 0);
    assert_eq!(of(format!("user_id={key}")).await.len(), 0);
}

#[tokio::test]
async fn pages_list_every_entry_once_across_days() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..9 {
        app.advance(SignedDuration::from_hours(5));
        for name in ["A", "B", "C"] {
            rename(&app, &ada, name).await;
        }
    }
    let all = entries(&app, "limit=100").await;
    assert_eq!(all.len(), 28);
    assert!(each(&all, "at").is_sorted_by(|newer, older| newer.as_str() >= older.as_str()));
    assert_eq!(each(&all, "id").into_iter().collect::<HashSet<_>>().len(), 28);
    for query in ["limit=1", "limit=7", "limit=27", &format!("limit=4&user_id={}", ada.user_id)] {
        let pages = pages(&app.admin(), &format!("{AUDIT_LOG}?{query}")).await;
        assert_eq!(each(&pages.concat(), "id"), each(&all, "id"), "{query}");
    }
    let renamed = entries(&app, "limit=2&operation=users-user-update").await;
    assert_eq!(each(&renamed, "id"), each(&all[..27], "id"));
    let within = entries(&app, "limit=2&from=2026-01-02T03:00:00Z&until=2026-01-02T13:00:00Z").await;
    assert_eq!(within.len(), 6, "{within:?}");
}

#[tokio::test]
async fn a_cursor_is_stable_when_entries_are_added_between_pages() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    rename(&app, &ada, "A").await;
    let (first, cursor) = page(&app.admin(), &format!("{AUDIT_LOG}?limit=1")).await;
    app.advance(DAY);
    rename(&app, &ada, "B").await;
    let (second, end) = page(&app.admin(), &format!("{AUDIT_LOG}?limit=1&cursor={}", cursor.unwrap())).await;
    assert_eq!((second.len(), end), (1, None));
    assert_ne!(first[0]["id"], second[0]["id"]);
    assert_eq!(entries(&app, "").await.len(), 3);
}

#[tokio::test]
async fn years_without_entries_are_scanned_in_few_bounded_requests() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "audit_log_retention_days": 400 } })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(DAY * 398);
    rename(&app, &ada, "Ada").await;
    let (mut cursor, mut found, mut requests) = (String::new(), 0, 0);
    loop {
        app.recorder.measure();
        tokio::time::pause();
        let start = tokio::time::Instant::now();
        let (items, next) = page(&app.admin(), &format!("{AUDIT_LOG}?limit=10{cursor}")).await;
        let round_trips = start.elapsed().as_millis() / ROUND_TRIP.as_millis();
        tokio::time::resume();
        let calls = app.recorder.consumed().calls;
        // Each day has four partitions.
        assert!(round_trips <= 9 && calls <= 4 * 63 + 8, "{round_trips} round trips, {calls} calls");
        (found, requests) = (found + items.len(), requests + 1);
        match next {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    // A third entry, about the change of the retention period, still had the previous period and
    // has expired.
    assert_eq!(found, 2);
    assert!(requests <= 8, "{requests} requests");
    // Ranges far before or after the log cost nothing extra.
    assert_eq!(page(&app.admin(), &format!("{AUDIT_LOG}?until=2000-01-01T00:00:00Z&from=0001-01-01T00:00:00Z")).await, (Vec::new(), None));
    assert_eq!(page(&app.admin(), &format!("{AUDIT_LOG}?from=9998-01-01T00:00:00Z&until=9999-01-01T00:00:00Z")).await, (Vec::new(), None));
}

#[tokio::test]
async fn a_cursor_is_bound_to_its_project_and_filters() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    rename(&app, &ada, "Ada").await;
    let cursor = async |query: &str| page(&app.admin(), &format!("{AUDIT_LOG}?limit=1{query}")).await.1.unwrap();
    let (plain, of_user) = (cursor("").await, cursor(&format!("&user_id={}", ada.user_id)).await);
    let with = |query: &str, cursor: &str| format!("{AUDIT_LOG}?limit=1{query}&cursor={cursor}");
    assert_eq!(app.admin().get(&with("", &plain)).await.status(), 200);

    for query in [
        format!("&user_id={}", ada.user_id),
        format!("&actor={}", ada.user_id),
        "&operation=users-user-update".to_owned(),
        "&event=created".to_owned(),
        "&from=2026-01-01T00:00:00Z".to_owned(),
        "&until=2026-02-01T00:00:00Z".to_owned(),
    ] {
        assert_error(&app.admin().get(&with(&query, &plain)).await, 400, "INVALID_CURSOR");
    }
    assert_error(&app.admin().get(&with("", &of_user)).await, 400, "INVALID_CURSOR");
    let other = app.another_project().await;
    assert_error(&app.admin_of(&other).get(&with("", &plain)).await, 400, "INVALID_CURSOR");
    assert_error(&app.server().get(&format!("/api/v1/emails/outbox?cursor={plain}")).await, 400, "INVALID_CURSOR");
    let flipped = if plain.ends_with('A') { "B" } else { "A" };
    for forged in ["", "x", "001767268800000%23", &plain[1..], &format!("{}{flipped}", &plain[..plain.len() - 1])] {
        assert_error(&app.admin().get(&with("", forged)).await, 400, "INVALID_CURSOR");
    }
}

#[tokio::test]
async fn malicious_filters_are_rejected_field_by_field() {
    let app = TestApp::start().await;
    for (field, value) in [
        ("operation", "%22%7D%20OR%201=1"),
        ("operation", "%3Cscript%3E"),
        ("operation", ""),
        ("operation", &"a".repeat(65)),
        ("operation", "auth%00"),
        ("user_id", "me"),
        ("user_id", "P%23x%23TRAIL%23USER"),
        ("actor", "*"),
        ("event", "everything"),
        ("event", "sign-in,sign-out"),
        ("from", "yesterday"),
        ("from", "2026-01-01T00:00:00+01:00"),
        ("until", "2026-13-01T00:00:00Z"),
        ("limit", "0"),
        ("limit", "101"),
        ("format", "csv"),
        ("sort", "asc"),
    ] {
        let answer = app.admin().get(&format!("{AUDIT_LOG}?{field}={value}")).await;
        assert_error(&answer, 400, "SCHEMA_ERROR");
        let message = answer.json()["details"]["message"].as_str().unwrap().to_owned();
        assert!(message.contains(&format!("- query.{field} ")), "{message}");
    }
    let answer = app.admin().get(&format!("{AUDIT_LOG}?from=2026-01-02T00:00:00Z&until=2026-01-02T00:00:00Z")).await;
    assert_error(&answer, 400, "SCHEMA_ERROR");
}

#[tokio::test]
async fn malicious_field_names_are_not_recorded() {
    let app = TestApp::start().await;
    let name = "\u{202e}<img src=x>\n\"}{\"";
    let body = json!({ "client_metadata": { name: "x" }, "display_name": name });
    let ada = app.sign_up("ada@example.com").await;
    app.server().patch(&format!("/api/v1/users/{}", ada.user_id), body).await;
    let lines = app.admin().get(&format!("{AUDIT_LOG}?format=jsonl")).await;
    for line in lines.text().lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        assert!(entry["fields"].as_array().unwrap().iter().all(|field| !field.as_str().unwrap().contains('<')), "{entry}");
    }
}
