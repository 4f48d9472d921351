//! The bodies of an email are erased a day after the email reaches a final state. All other parts
//! of its entry are kept.

use std::collections::HashMap;

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use jiff::SignedDuration;
use model::outbox::status::Status;
use serde_json::{Value, json};
use store::Error;
use store::outbox::OutboxRow;
use store::outbox::transition::OutboxMove;
use support::TestApp;
use uuid::Uuid;
use wire::id::EmailId;

use super::{OUTBOX, entry_in, path, read, send, with_entry};

/// The item that contains an email's bodies, if any.
fn body(app: &TestApp, id: &str) -> Option<Value> {
    app.table().remove(&(format!("M#{}#{id}", app.project_id()), "BODY".to_owned()))
}

async fn listed(app: &TestApp, id: &str) -> Value {
    let list = app.server().get(OUTBOX).await.json();
    list["items"].as_array().unwrap().iter().find(|entry| entry["id"] == id).unwrap().clone()
}

#[tokio::test]
async fn a_day_after_its_end_an_email_loses_only_its_bodies() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in [Status::Sent, Status::Bounced, Status::Opened, Status::ServerError] {
        let id = entry_in(&app, &ada, status).await;
        let mut before = read(&app, &id).await;
        assert!(before["html"].as_str().unwrap().contains("Hello") && before["text"].as_str().unwrap().contains("Hello"));
        let kept = body(&app, &id).unwrap();
        let until = (app.now() + SignedDuration::from_hours(24)).as_second();
        assert_eq!(kept["ttl"]["N"], until.to_string(), "{kept}");

        app.advance(SignedDuration::from_hours(24) - SignedDuration::from_millis(1));
        assert_eq!((read(&app, &id).await, listed(&app, &id).await), (before.clone(), before.clone()));
        app.advance(SignedDuration::from_millis(1));
        for field in ["html", "text"] {
            before[field] = Value::Null;
        }
        assert_eq!((read(&app, &id).await, listed(&app, &id).await), (before.clone(), before), "bodies are hidden before their deletion");
    }
}

#[tokio::test]
async fn an_unfinished_email_keeps_its_bodies() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for status in [Status::Scheduled, Status::Queued, Status::Sending] {
        let id = entry_in(&app, &ada, status).await;
        app.advance(SignedDuration::from_hours(48));
        let expires_at: i64 = body(&app, &id).unwrap()["ttl"]["N"].as_str().unwrap().parse().unwrap();
        assert!(expires_at > app.now().as_second(), "{status:?}");
        assert!(read(&app, &id).await["html"].as_str().unwrap().contains("Hello"), "{status:?}");
    }
}

#[tokio::test]
async fn an_edited_failed_email_is_rerendered_and_kept_for_another_day() {
    let (app, _, id) = with_entry(Status::ServerError).await;
    app.advance(SignedDuration::from_hours(23));
    let edited = app.server().patch(&path(&id), json!({ "html_source": "<p>Again</p>" })).await.json();
    assert_eq!((&edited["status"], &edited["has_rendered"]), (&json!("preparing"), &json!(false)));
    app.send_emails().await;
    app.advance(SignedDuration::from_hours(23));
    assert!(read(&app, &id).await["html"].as_str().unwrap().contains("Again"));
    app.advance(SignedDuration::from_hours(1));
    assert_eq!(read(&app, &id).await["html"], Value::Null);
}

#[tokio::test]
async fn a_cancelled_email_keeps_its_bodies_for_a_day() {
    let (app, _, id) = with_entry(Status::Scheduled).await;
    let cancelled = app.server().patch(&path(&id), json!({ "cancel": true })).await.json();
    assert!(cancelled["html"].as_str().unwrap().contains("Hello"), "{cancelled}");
    assert_eq!(read(&app, &id).await, cancelled);
    app.advance(SignedDuration::from_hours(24));
    assert_eq!(read(&app, &id).await["html"], Value::Null);
}

#[tokio::test]
async fn expired_bodies_are_deleted_without_side_effects() {
    let app = TestApp::start().await;
    // `sweep_ttl` uses the machine's clock instead of the test's clock, so the test's clock is set
    // back ten years.
    app.advance(SignedDuration::from_hours(-10 * 365 * 24));
    let ada = app.sign_up("ada@example.com").await;
    let (sent, waiting) = (entry_in(&app, &ada, Status::Sent).await, entry_in(&app, &ada, Status::Scheduled).await);
    assert!(body(&app, &sent).is_some());
    app.database().sweep_ttl().unwrap();
    assert!(body(&app, &sent).is_none());
    let entry = read(&app, &sent).await;
    assert_eq!((&entry["html"], &entry["subject"], &entry["status"]), (&Value::Null, &json!("Greetings"), &json!("sent")));
    assert_eq!(listed(&app, &sent).await, entry);
    // According to the machine's clock, the bodies of the email that is still waiting have also
    // expired.
    app.advance(SignedDuration::from_hours(1));
    let mail = app.last_mail(&ada.email).await.0;
    assert_eq!(read(&app, &waiting).await["status"], "sent");
    assert!(mail.html.contains("<p>Hello</p>"));
}

#[tokio::test]
async fn listing_old_emails_reads_no_bodies() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    entry_in(&app, &ada, Status::Sent).await;
    let calls = async || {
        app.recorder.clear();
        assert_eq!(app.server().get(OUTBOX).await.status(), 200);
        app.recorder.calls().len()
    };
    let with_bodies = calls().await;
    app.advance(SignedDuration::from_hours(24));
    assert_eq!(calls().await, with_bodies - 1);
}

fn body_key(app: &TestApp, id: &str) -> [(&'static str, AttributeValue); 2] {
    [("pk", format!("M#{}#{id}", app.project_id())), ("sk", "BODY".to_owned())].map(|(name, key)| (name, AttributeValue::S(key)))
}

async fn delete_body(app: &TestApp, id: &str) {
    let delete = DeleteItemInput::builder().table_name(gateway::engine::TABLE).set_key(Some(key(body_key(app, id))));
    app.app.store.client().call(delete).await.unwrap();
    assert_eq!(body(app, id), None);
}

fn key<const N: usize>(attributes: [(&str, AttributeValue); N]) -> HashMap<String, AttributeValue> {
    attributes.map(|(name, value)| (name.to_owned(), value)).into()
}

#[tokio::test]
async fn an_email_whose_bodies_are_missing_is_rendered_again_when_it_is_sent() {
    let (app, ada, id) = with_entry(Status::Queued).await;
    delete_body(&app, &id).await;
    assert_eq!(read(&app, &id).await["html"], Value::Null);
    let mail = app.last_mail(&ada.email).await.0;
    assert!(mail.html.contains("<p>Hello</p>") && mail.text.contains("Hello"), "{mail:?}");
    assert_eq!(read(&app, &id).await["status"], "sent");
}

#[tokio::test]
async fn the_table_does_not_contain_the_code_of_an_unsubscribe_link() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let marketing = json!({ "notification_category_name": "Marketing", "html": "<p>{{ unsubscribe_link }}</p>", "theme_id": false });
    let id = send(&app, &ada, marketing).await["id"].as_str().unwrap().to_owned();
    let mail = app.last_mail(&ada.email).await.0;
    let (_, code) = mail.text.split_once("unsubscribe-link?code=").unwrap();
    let code = &code[..45];
    assert!(mail.html.contains(code));
    let stored = body(&app, &id).unwrap().to_string();
    assert!(stored.contains("unsubscribe-link?code=") && !stored.contains(code), "{stored}");
    let shown = read(&app, &id).await;
    assert!(shown["text"].as_str().unwrap().contains("unsubscribe-link?code=••••••"), "{shown}");
    assert!(app.table().values().all(|item| !item["d"].to_string().contains(code)));
}

/// An email that is edited after rendering and then cancelled does not leave bodies behind.
#[tokio::test]
async fn discarded_bodies_expire_in_a_day() {
    let (app, _, id) = with_entry(Status::Scheduled).await;
    let edited = app.server().patch(&path(&id), json!({ "html_source": "<p>Again</p>" })).await.json();
    assert_eq!(edited["html"], Value::Null);
    app.server().patch(&path(&id), json!({ "cancel": true })).await;
    let until = (app.now() + SignedDuration::from_hours(24)).as_second();
    assert_eq!(body(&app, &id).unwrap()["ttl"]["N"], until.to_string());
}

async fn row(app: &TestApp, id: &str) -> OutboxRow {
    app.app.store.outbox_entry(app.project_id(), EmailId::parse(id).unwrap()).await.unwrap().unwrap()
}

#[tokio::test]
async fn a_worker_that_was_overtaken_does_not_replace_bodies() {
    let (app, _, id) = with_entry(Status::Preparing).await;
    let store = &app.app.store;
    let mut claims = Vec::new();
    for number in [1, 2] {
        app.advance(SignedDuration::from_mins(2));
        let preparing = row(&app, &id).await;
        let claimed = preparing.entry.clone().begin_rendering(Uuid::from_u128(number), app.now()).unwrap();
        store.move_outbox_entry(OutboxMove::new(preparing, claimed)).await.unwrap();
        claims.push((Uuid::from_u128(number), row(&app, &id).await));
    }
    let finished = |(claim, row): &(Uuid, OutboxRow), html: &str| {
        let mail = ("Greetings".to_owned(), Some(html.to_owned()), None);
        OutboxMove::new(row.clone(), row.entry.clone().finish_rendering(*claim, Ok(mail), app.now()).unwrap())
    };
    let late = store.move_outbox_entry(finished(&claims[0], "late")).await;
    assert!(matches!(late, Err(Error::Conflict(_))));
    store.move_outbox_entry(finished(&claims[1], "current")).await.unwrap();
    let late = store.move_outbox_entry(finished(&claims[0], "late")).await;
    assert!(matches!(late, Err(Error::Conflict(_))));
    assert_eq!(read(&app, &id).await["html"], "current");
}

/// An entry of an earlier version contains the bodies until the email is sent or skipped, or has
/// finally failed.
#[tokio::test]
async fn an_entry_that_contains_its_bodies_is_shown_and_sent() {
    let (app, ada, id) = with_entry(Status::Queued).await;
    delete_body(&app, &id).await;
    let [pk, _] = body_key(&app, &id);
    let update = UpdateItemInput::builder().table_name(gateway::engine::TABLE);
    let update = update.set_key(Some(key([pk, ("sk", AttributeValue::S("ENTRY".to_owned()))])));
    let update = update.update_expression("SET d.rendered.html = :html, d.rendered.#text = :text REMOVE d.rendered.kept");
    let update = update.expression_attribute_names("#text", "text");
    let update = update.expression_attribute_values(":html", AttributeValue::S("<p>Old</p>".to_owned()));
    let update = update.expression_attribute_values(":text", AttributeValue::S("Old".to_owned()));
    app.app.store.client().call(update).await.unwrap();

    let queued = read(&app, &id).await;
    assert_eq!((&queued["html"], &queued["text"]), (&json!("<p>Old</p>"), &json!("Old")));
    let mail = app.last_mail(&ada.email).await.0;
    assert_eq!((mail.html.as_str(), mail.text.as_str()), ("<p>Old</p>", "Old"));
    let sent = read(&app, &id).await;
    assert_eq!((&sent["status"], &sent["html"]), (&json!("sent"), &json!("<p>Old</p>")));
    assert!(body(&app, &id).unwrap()["ttl"].is_object());
}
