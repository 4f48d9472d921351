//! `PATCH /api/v1/emails/outbox/{id}`, with valid and invalid updates.

use model::outbox::status::Status;
use serde_json::{Value, json};
use support::TestApp;

use super::{entry_in, path, read, send, with_entry};

const NOBODY: &str = "00000000-0000-4000-8000-000000000000";

#[tokio::test]
async fn entries_in_other_states_cannot_be_edited_and_the_state_is_named() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in Status::ALL.iter().copied().filter(|status| !status.is_editable()) {
        let id = entry_in(&app, &ada, status).await;
        let before = read(&app, &id).await;
        for patch in [json!({}), json!({ "cancel": true }), json!({ "is_paused": true }), json!({ "subject_source": "x" })] {
            let answer = app.server().patch(&path(&id), patch.clone()).await;
            assert_eq!((answer.status(), answer.code().as_str()), (400, "EMAIL_NOT_EDITABLE"), "{status:?} {patch}");
            let name = status.name().to_uppercase().replace('-', "_");
            assert_eq!(answer.json()["details"], json!({ "email_id": id, "status": name }));
            assert_eq!(answer.header("x-stack-known-error"), Some("EMAIL_NOT_EDITABLE"));
        }
        assert_eq!(read(&app, &id).await, before, "{status:?}");
    }
}

#[tokio::test]
async fn every_part_of_the_content_can_be_replaced() {
    let (app, ada, id) = with_entry(Status::Scheduled).await;
    let patch = json!({
        "subject_source": "New {{ variables.what }}", "html_source": "<p>{{ variables.what }}</p>", "text_source": "plain {{ variables.what }}",
        "theme_id": null, "variables": { "what": "things" }, "skip_deliverability_check": true, "scheduled_at_millis": 1_000,
        "to": { "type": "custom-emails", "emails": ["Bob@Example.com", "cy@example.com"] },
    });
    let answer = app.server().patch(&path(&id), patch).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let entry = answer.json();
    assert_eq!(entry, read(&app, &id).await);
    assert_eq!((&entry["status"], &entry["has_rendered"]), (&json!("preparing"), &json!(false)));
    assert_eq!((&entry["skip_deliverability_check"], &entry["scheduled_at_millis"]), (&json!(true), &json!(1_000)));

    let mail = app.last_mail("bob@example.com").await.0;
    assert_eq!((mail.subject.as_str(), mail.text.as_str(), mail.html.as_str()), ("New things", "plain things", "<p>things</p>"));
    assert_eq!(mail.to, ["bob@example.com", "cy@example.com"]);
    assert!(app.mails(&ada.email).await.is_empty());
}

#[tokio::test]
async fn the_sdk_alias_of_the_source_is_shown_and_accepted() {
    let (app, ada, id) = with_entry(Status::Scheduled).await;
    assert_eq!(read(&app, &id).await["tsx_source"], "<p>Hello</p>");
    let answer = app.server().patch(&path(&id), json!({ "tsx_source": "<p>{{ user.id }}</p>", "scheduled_at_millis": 0 })).await;
    assert_eq!((answer.status(), &answer.json()["status"]), (200, &json!("preparing")), "{}", answer.text());
    let listed = app.server().get(super::OUTBOX).await.json()["items"][0].clone();
    for entry in [answer.json(), read(&app, &id).await, listed] {
        assert_eq!([&entry["html_source"], &entry["tsx_source"]], ["<p>{{ user.id }}</p>"; 2]);
    }
    assert!(app.last_mail(&ada.email).await.0.html.contains(&format!("<p>{}</p>", ada.user_id)));
}

#[tokio::test]
async fn a_removed_text_is_derived_from_the_html() {
    let (app, ada, id) = with_entry(Status::Preparing).await;
    app.server().patch(&path(&id), json!({ "text_source": "by hand" })).await;
    let answer = app.server().patch(&path(&id), json!({ "text_source": null, "html_source": "<p>by rule</p>" })).await;
    assert_eq!(answer.json()["text_source"], Value::Null);
    assert_eq!(app.last_mail(&ada.email).await.0.text.trim(), "by rule");
}

#[tokio::test]
async fn a_built_in_email_can_be_edited_like_any_other() {
    let app = TestApp::start().await;
    let ada = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/magic" });
    app.client().post("/api/v1/auth/otp/send-sign-in-code", ada).await;
    let id = app.server().get(super::OUTBOX).await.json()["items"][0]["id"].as_str().unwrap().to_owned();
    let answer = app.server().patch(&path(&id), json!({ "html_source": "<p>Code {{ variables.otp }}</p>" })).await;
    assert_eq!((answer.status(), &answer.json()["text_source"]), (200, &Value::Null), "{}", answer.text());
    let mail = app.last_mail("ada@example.com").await.0;
    let code = mail.subject.rsplit(' ').next().unwrap();
    assert!(mail.html.contains(&format!("<p>Code {code}</p>")) && mail.text.contains(code), "{mail:?}");
}

#[tokio::test]
async fn an_invalid_body_is_rejected_and_changes_nothing() {
    let (app, _, id) = with_entry(Status::Scheduled).await;
    let before = read(&app, &id).await;
    let many: Vec<String> = (0..51).map(|number| format!("user{number}@example.com")).collect();
    let wrong = [
        (json!({ "tsx_source": "x", "html_source": "y" }), "body.tsx_source is an alias of html_source"),
        (json!({ "tsx_source": "import React from 'react'" }), "body.tsx_source looks like TSX"),
        (json!({ "html_source": "  import React from 'react'" }), "body.html_source looks like TSX"),
        (json!({ "status": "queued" }), "body.status"),
        (json!({ "cancel": false }), "body.cancel"),
        (json!({ "is_paused": "yes" }), "body.is_paused"),
        (json!({ "theme_id": NOBODY }), "body.theme_id"),
        (json!({ "theme_id": "x" }), "body.theme_id"),
        (json!({ "variables": [] }), "body.variables"),
        (json!({ "scheduled_at_millis": 0.5 }), "body.scheduled_at_millis"),
        (json!({ "scheduled_at_millis": i64::MAX }), "body.scheduled_at_millis"),
        (json!({ "skip_deliverability_check": 1 }), "body.skip_deliverability_check"),
        (json!({ "to": { "type": "everybody" } }), "body.to"),
        (json!({ "to": { "type": "custom-emails", "emails": ["nobody"] } }), "body.to.emails[0]"),
        (json!({ "to": { "type": "custom-emails", "emails": [], "more": 1 } }), "body.to.more"),
        (json!({ "to": { "type": "custom-emails", "emails": many } }), "body.to.emails must have at most 50 addresses"),
        (json!({ "to": { "type": "user-primary-email", "user_id": "x" } }), "body.to.user_id"),
        (json!([]), "body"),
    ];
    for (patch, path_of_problem) in wrong {
        let answer = app.server().patch(&path(&id), patch.clone()).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{patch} {}", answer.text());
        assert!(answer.text().contains(path_of_problem), "{patch} {}", answer.text());
    }
    assert_eq!(read(&app, &id).await, before);
    let missing = app.server().request("PATCH", &path(&id)).send().await;
    assert_eq!((missing.status(), missing.code().as_str()), (400, "SCHEMA_ERROR"));
}

#[tokio::test]
async fn sources_that_are_too_large_in_total_are_rejected() {
    let (app, _, id) = with_entry(Status::Preparing).await;
    let long = "x".repeat(250_000);
    assert_eq!(app.server().patch(&path(&id), json!({ "html_source": long })).await.status(), 200);
    let answer = app.server().patch(&path(&id), json!({ "text_source": long })).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{}", answer.text());
    assert_eq!(read(&app, &id).await["text_source"], Value::Null);
}

#[tokio::test]
async fn if_match_guards_an_update() {
    let (app, _, id) = with_entry(Status::Scheduled).await;
    let tag = app.server().get(&path(&id)).await.header("etag").unwrap().to_owned();
    let update = async |condition: &str, subject: &str| {
        let request = app.server().request("PATCH", &path(&id)).header("if-match", condition);
        request.json(&json!({ "subject_source": subject })).send().await
    };

    assert_eq!(update(&tag, "first").await.status(), 200);
    for old in [tag.clone(), format!("\"x\", {tag}"), "W/\"2\"".to_owned(), "nonsense".to_owned()] {
        let stale = update(&old, "second").await;
        assert_eq!((stale.status(), stale.code().as_str()), (412, "PRECONDITION_FAILED"), "{old}");
    }
    assert_eq!(read(&app, &id).await["subject_source"], "first");

    let tag = app.server().get(&path(&id)).await.header("etag").unwrap().to_owned();
    assert_eq!(update(&format!("\"x\", {tag}"), "third").await.status(), 200);
    assert_eq!(update("*", "fourth").await.status(), 200);
    assert_eq!(read(&app, &id).await["subject_source"], "fourth");
}

#[tokio::test]
async fn an_unknown_entry_is_not_found() {
    let (app, _, id) = with_entry(Status::Preparing).await;
    let other = app.another_project().await;
    let patch = json!({ "cancel": true });
    for answer in [app.server().patch(&path(NOBODY), patch.clone()).await, app.server_of(&other).patch(&path(&id), patch).await] {
        assert_eq!((answer.status(), answer.code().as_str()), (404, "EMAIL_NOT_FOUND"));
    }
    assert_eq!(read(&app, &id).await["status"], "preparing");
}

#[tokio::test]
async fn clients_cannot_update_the_outbox() {
    let (app, ada, id) = with_entry(Status::Preparing).await;
    let answer = app.signed_in(&ada).patch(&path(&id), json!({ "cancel": true })).await;
    assert_eq!((answer.status(), answer.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    assert_eq!(read(&app, &id).await["status"], "preparing");
    assert_eq!(app.admin().patch(&path(&id), json!({})).await.status(), 200);
}

#[tokio::test]
async fn explicit_addresses_override_those_of_the_user() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = send(&app, &ada, json!({})).await["id"].as_str().unwrap().to_owned();
    let to = json!({ "type": "user-custom-emails", "user_id": ada.user_id, "emails": ["work@example.com"] });
    let answer = app.server().patch(&path(&id), json!({ "to": to })).await;
    assert_eq!(answer.json()["to"], to);
    assert_eq!(app.mails("work@example.com").await.len(), 1);
    assert!(app.mails(&ada.email).await.is_empty());
}
