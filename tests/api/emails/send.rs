//! `POST /api/v1/emails/send-email`.

use serde_json::{Value, json};
use support::{Answer, TestApp};

use super::render::MODULES;
use super::{HOUR, OUTBOX, SEND, path, read, send};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

async fn entries(app: &TestApp) -> usize {
    let (mut count, mut query) = (0, String::new());
    loop {
        let page = app.server().get(&format!("{OUTBOX}?{query}")).await.json();
        count += page["items"].as_array().unwrap().len();
        match page["pagination"]["next_cursor"].as_str() {
            Some(next) => query = format!("cursor={next}"),
            None => return count,
        }
    }
}

async fn refused(app: &TestApp, fields: Value) -> Answer {
    let mut body = json!({ "user_ids": [], "html": "<p>Hello</p>" });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let answer = app.server().post(SEND, body).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{fields} {}", answer.text());
    assert_eq!(entries(app).await, 0, "{fields}");
    answer
}

#[tokio::test]
async fn an_email_reaches_its_users_and_the_results_keep_their_order() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);

    let body = json!({ "user_ids": [bob.user_id, ada.user_id], "subject": "For {{ user.primary_email }}", "html": "<p>Hello</p>" });
    let answer = app.server().post(SEND, body).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(answer.json(), json!({ "results": [{ "user_id": bob.user_id }, { "user_id": ada.user_id }] }));

    for user in [ada, bob] {
        let mails = app.mails(&user.email).await;
        assert_eq!(mails.len(), 1);
        assert_eq!((mails[0].0.subject.clone(), mails[0].0.to.clone()), (format!("For {}", user.email), vec![user.email]));
        assert!(mails[0].0.html.contains("<p>Hello</p>") && mails[0].0.text.contains("Hello"));
    }
}

#[tokio::test]
async fn an_email_to_all_users_reaches_each_user_of_the_project_once() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let stranger = json!({ "email": "eve@example.com", "password": "correct horse battery" });
    assert_eq!(app.client_of(&other).post("/api/v1/auth/password/sign-up", stranger).await.status(), 200);
    let mut users = Vec::new();
    for name in ["ada", "bob", "cy", "dot", "ed"] {
        users.push(app.sign_up(&format!("{name}@example.com")).await);
    }

    let answer = app.server().post(SEND, json!({ "all_users": true, "html": "<p>Hello</p>" })).await;
    assert_eq!(answer.json()["results"].as_array().unwrap().len(), users.len());
    for user in users {
        assert_eq!(app.mails(&user.email).await.len(), 1, "{}", user.email);
    }
    assert!(app.mails("eve@example.com").await.is_empty());
}

#[tokio::test]
async fn an_empty_list_of_recipients_is_accepted() {
    let app = TestApp::start().await;
    let answer = app.server().post(SEND, json!({ "user_ids": [], "html": "x" })).await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "results": [] })));
}

#[tokio::test]
async fn an_unknown_recipient_prevents_the_whole_send() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answer = app.server().post(SEND, json!({ "user_ids": [ada.user_id, NOBODY], "html": "x" })).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "USER_ID_DOES_NOT_EXIST"));
    assert_eq!(answer.json()["details"], json!({ "user_id": NOBODY }));
    assert_eq!(answer.header("x-stack-known-error"), Some("USER_ID_DOES_NOT_EXIST"));
    assert_eq!(entries(&app).await, 0);
}

#[tokio::test]
async fn users_of_another_project_do_not_exist() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let other = app.another_project().await;
    let answer = app.server_of(&other).post(SEND, json!({ "user_ids": [ada.user_id], "html": "x" })).await;
    assert_eq!(answer.code(), "USER_ID_DOES_NOT_EXIST");
}

#[tokio::test]
async fn clients_cannot_send_emails() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answer = app.signed_in(&ada).post(SEND, json!({ "user_ids": [ada.user_id], "html": "x" })).await;
    assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    assert_eq!(answer.json()["details"], json!({ "actual_access_type": "client", "allowed_access_types": ["server", "admin"] }));
    assert_eq!(entries(&app).await, 0);
    assert_eq!(app.admin().post(SEND, json!({ "user_ids": [ada.user_id], "html": "x" })).await.status(), 200);
}

#[tokio::test]
async fn an_invalid_field_is_rejected_with_its_path() {
    let app = TestApp::start().await;
    let wrong = [
        (json!({ "all_users": true }), "either user_ids or all_users"),
        (json!({ "all_users": false }), "body.all_users"),
        (json!({ "user_ids": null }), "either user_ids or all_users"),
        (json!({ "user_ids": ["x"] }), "body.user_ids[0]"),
        (json!({ "html": null }), "one of html, template_id and draft_id"),
        (json!({ "html": 1 }), "body.html"),
        (json!({ "template_id": NOBODY }), "one of html, template_id and draft_id"),
        (json!({ "html": null, "template_id": NOBODY, "draft_id": NOBODY }), "one of html, template_id and draft_id"),
        (json!({ "html": null, "template_id": NOBODY }), "body.template_id must be the id of a template"),
        (json!({ "html": null, "draft_id": NOBODY }), "body.draft_id must be the id of a draft"),
        (json!({ "variables": [] }), "body.variables"),
        (json!({ "notification_category_name": "News" }), "body.notification_category_name"),
        (json!({ "theme_id": NOBODY }), "body.theme_id must be the id of a theme"),
        (json!({ "theme_id": true }), "body.theme_id"),
        (json!({ "is_high_priority": "yes" }), "body.is_high_priority"),
        (json!({ "scheduled_at_millis": "tomorrow" }), "body.scheduled_at_millis"),
        (json!({ "scheduled_at_millis": i64::MAX }), "body.scheduled_at_millis"),
        (json!({ "scheduled_at_millis": i64::MIN }), "body.scheduled_at_millis"),
        (json!({ "tsx_source": "x" }), "body.tsx_source"),
    ];
    for (fields, path) in wrong {
        let answer = refused(&app, fields.clone()).await;
        assert!(answer.json()["details"]["message"].as_str().unwrap().contains(path), "{fields} {}", answer.text());
    }
}

#[tokio::test]
async fn all_problems_are_reported_together() {
    let app = TestApp::start().await;
    let answer = refused(&app, json!({ "user_ids": ["x"], "html": 1, "nothing": 2 })).await;
    for path in ["body.user_ids[0]", "body.html", "body.nothing"] {
        assert!(answer.text().contains(path), "{path} in {}", answer.text());
    }
}

#[tokio::test]
async fn a_scheduled_email_waits_for_its_time_and_zero_means_now() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let later = app.now().as_millisecond() + HOUR;
    send(&app, &ada, json!({ "subject": "later", "scheduled_at_millis": later })).await;
    send(&app, &ada, json!({ "subject": "now", "scheduled_at_millis": 0 })).await;

    let subjects = |mails: Vec<support::Mail>| mails.into_iter().map(|mail| mail.0.subject).collect::<Vec<_>>();
    assert_eq!(subjects(app.mails(&ada.email).await), ["now"]);
    app.advance(jiff::SignedDuration::from_mins(59));
    assert_eq!(app.mails(&ada.email).await.len(), 1);
    app.advance(jiff::SignedDuration::from_mins(1));
    assert_eq!(subjects(app.mails(&ada.email).await), ["later", "now"]);
}

#[tokio::test]
async fn category_priority_and_theme_are_applied_as_requested() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let fields = json!({ "notification_category_name": "Marketing", "is_high_priority": true, "theme_id": false, "html": "<p>bare</p>" });
    let id = send(&app, &ada, fields).await["id"].as_str().unwrap().to_owned();
    let html = app.last_mail(&ada.email).await.0.html;
    assert!(html.starts_with("<p>bare</p><p ") && html.contains("/emails/unsubscribe-link?code="), "{html}");
    let entry = read(&app, &id).await;
    assert_eq!(entry["theme_id"], Value::Null);
    assert_eq!((&entry["is_high_priority"], &entry["is_transactional"]), (&json!(true), &json!(false)));
    assert_eq!(entry["notification_category_id"], "4f6f8873-3d04-46bd-8bef-18338b1a1b4c");
}

#[tokio::test]
async fn a_recipient_without_an_account_or_address_is_skipped() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
    let to = json!({ "to": { "type": "user-primary-email", "user_id": NOBODY } });
    assert_eq!(app.server().patch(&path(&id), to).await.status(), 200);
    let empty = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
    let to = json!({ "to": { "type": "custom-emails", "emails": [] } });
    assert_eq!(app.server().patch(&path(&empty), to).await.status(), 200);

    assert!(app.mails(&ada.email).await.is_empty());
    let skipped = read(&app, &id).await;
    assert_eq!((&skipped["status"], &skipped["skipped_reason"]), (&json!("skipped"), &json!("USER_ACCOUNT_DELETED")));
    assert_eq!(read(&app, &empty).await["skipped_reason"], "NO_EMAIL_PROVIDED");
}

#[tokio::test]
async fn a_user_who_is_listed_twice_gets_one_email() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    // The first list of recipients fits into a transaction, and the second does not.
    for times in [2, 200] {
        let ids: Vec<&String> = [&bob.user_id, &ada.user_id].into_iter().cycle().take(2 * times).collect();
        let before = (app.mails(&ada.email).await.len(), app.mails(&bob.email).await.len(), entries(&app).await);
        let answer = app.server().post(SEND, json!({ "user_ids": ids, "html": "<p>Hello</p>" })).await;
        let results: Vec<Value> = ids.iter().map(|id| json!({ "user_id": id })).collect();
        assert_eq!((answer.status(), answer.json()), (200, json!({ "results": results })));
        let after = (app.mails(&ada.email).await.len(), app.mails(&bob.email).await.len(), entries(&app).await);
        assert_eq!(after, (before.0 + 1, before.1 + 1, before.2 + 2));
    }
}

#[tokio::test]
async fn a_large_email_to_many_recipients_has_an_entry_for_each() {
    let app = TestApp::start().await;
    let html = format!("<p>{}</p>", "x".repeat(120_000));
    let answer = app.server().post(SEND, json!({ "user_ids": app.users(60).await, "html": html, "theme_id": false })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    app.send_emails().await;
    assert_eq!(entries(&app).await, 60);
}

#[tokio::test]
async fn an_email_that_renders_too_large_is_a_render_error() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let html = format!("{{% for a in range(2) %}}{}{{% endfor %}}", "x ".repeat(90_000));
    let id = send(&app, &ada, json!({ "html": html, "theme_id": false })).await["id"].as_str().unwrap().to_owned();
    app.send_emails().await;
    let entry = read(&app, &id).await;
    assert_eq!(entry["status"], "render-error");
    assert!(entry["render_error"].as_str().unwrap().contains("is larger than 360000 bytes"), "{}", entry["render_error"]);
}

/// If a module were accepted, recipients would see its source code.
#[tokio::test]
async fn a_module_is_refused_however_it_is_laid_out() {
    let app = TestApp::start().await;
    for module in MODULES {
        let answer = refused(&app, json!({ "html": module })).await;
        assert!(answer.text().contains("body.html looks like TSX"), "{}", answer.text());
    }
}
