//! Someone who has a server key or a copy of the table searches the outbox for codes that open
//! accounts.

use std::collections::BTreeSet;
use std::pin::Pin;

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use email::send::{Mail, Mailer};
use flows::email::sealed;
use jiff::SignedDuration;
use model::outbox::work::Outcome;
use model::outbox::{OutboxEntry, SendError};
use serde_json::{Value, json};
use store::outbox::OutboxRow;
use support::{Answer, TestApp};
use uuid::Uuid;
use wire::id::EmailId;

use super::{CALLBACK, NEW, PASSWORD, otp_sign_in, reset, verify};
use crate::emails::{HOUR, OUTBOX, path, read, work};

/// The placeholder shown instead of a code.
const HIDDEN: &str = "••••••";

/// A mail server that permanently rejects every email and quotes the email in its reply.
struct RepeatingServer;

impl Mailer for RepeatingServer {
    fn send<'a>(&'a self, mail: &'a Mail) -> Pin<Box<dyn Future<Output = Outcome> + Send + 'a>> {
        let said = format!("550 {} {:?} {:?}", mail.subject, mail.text, mail.html);
        let failure = SendError::new(jiff::Timestamp::UNIX_EPOCH, "REJECTED", format!("refused: {said}"));
        Box::pin(async move { Outcome::Final(failure.because(said)) })
    }
}

/// Requests five kinds of emails that contain codes: a notice with its link, a reset, a sign-in, a
/// verification and an invitation.
async fn ask(app: &TestApp) {
    let bob = app.sign_up("bob@example.com").await;
    let verified = json!({ "primary_email_verified": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", bob.user_id), verified).await.status(), 200);
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Looms" })).await.json()["id"].clone();
    for (caller, path, body) in [
        (app.signed_in(&bob), "auth/password/update", json!({ "old_password": PASSWORD, "new_password": NEW })),
        (app.client(), "auth/password/send-reset-code", json!({ "email": "bob@example.com", "callback_url": CALLBACK })),
        (app.client(), "auth/otp/send-sign-in-code", json!({ "email": "ada@example.com", "callback_url": CALLBACK })),
        (
            app.client(),
            "auth/password/sign-up",
            json!({ "email": "eve@example.com", "password": PASSWORD, "verification_callback_url": CALLBACK }),
        ),
        (app.server(), "team-invitations/send-code", json!({ "team_id": team, "email": "cy@example.com", "callback_url": CALLBACK })),
    ] {
        let answer = caller.post(&format!("/api/v1/{path}"), body).await;
        assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
    }
}

async fn ids(app: &TestApp) -> Vec<String> {
    let list = app.server().get(OUTBOX).await.json();
    let ids: Vec<String> = list["items"].as_array().unwrap().iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 5, "{list}");
    ids
}

async fn statuses(app: &TestApp) -> BTreeSet<String> {
    let list = app.server().get(OUTBOX).await.json();
    list["items"].as_array().unwrap().iter().map(|entry| entry["status"].as_str().unwrap().to_owned()).collect()
}

/// The responses of operations that read the outbox, at each access level that may call them.
async fn answers(app: &TestApp) -> Vec<String> {
    let mut answers = Vec::new();
    for caller in [app.server(), app.admin()] {
        answers.push(caller.get(OUTBOX).await.text().to_owned());
        for id in ids(app).await {
            answers.push(caller.get(&path(&id)).await.text().to_owned());
        }
    }
    answers
}

async fn row(app: &TestApp, id: &str) -> OutboxRow {
    app.app.store.outbox_entry(app.project_id(), EmailId::parse(id).unwrap()).await.unwrap().unwrap()
}

/// All items of the table, and the outbox entries with decompressed bodies.
async fn stored(app: &TestApp) -> Vec<String> {
    let mut stored: Vec<String> = app.table().values().map(Value::to_string).collect();
    for id in ids(app).await {
        let entry = row(app, &id).await.entry;
        stored.push(format!("{:?}", app.app.store.with_bodies(app.project_id(), vec![entry], app.now()).await.unwrap()));
    }
    stored
}

/// Applies a patch to all entries, and returns the responses.
async fn patch_all(app: &TestApp, patch: Value) -> Vec<String> {
    let mut answers = Vec::new();
    for id in ids(app).await {
        let answer: Answer = app.server().patch(&path(&id), patch.clone()).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        answers.push(answer.text().to_owned());
    }
    answers
}

/// The codes of all emails in the inbox.
fn codes(app: &TestApp) -> BTreeSet<String> {
    let texts = app.inbox.messages(None).into_iter().flat_map(|mail| [mail.text, mail.html]);
    let words = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect::<Vec<_>>());
    let codes: BTreeSet<String> = words.filter(|word| word.len() == 45).collect();
    // One code each for the notice, the reset, the sign-in, the verification, the release of the
    // address (a second link in the verification email), and the invitation.
    assert_eq!(codes.len(), 6, "{codes:?}");
    codes
}

/// Asserts that the texts contain neither a code nor the typed part of a code, in upper or lower
/// case.
fn assert_no_code(seen: &[String], codes: &BTreeSet<String>) {
    for code in codes {
        let (typed, nonce) = code.split_at(6);
        for text in seen {
            let lower = text.to_lowercase();
            assert!(!lower.contains(nonce) && !lower.contains(typed), "{code} is in {text}");
        }
    }
}

#[tokio::test]
async fn the_outbox_reveals_no_codes_in_any_state() {
    let app = TestApp::start().await;
    ask(&app).await;
    let mut seen = Vec::new();
    let mut look = async |status: &str| {
        assert_eq!(statuses(&app).await, BTreeSet::from([status.to_owned()]));
        seen.extend(answers(&app).await);
        seen.extend(stored(&app).await);
    };
    look("preparing").await;
    let each = async |rule: fn(OutboxEntry, jiff::Timestamp) -> Option<OutboxEntry>| {
        for id in ids(&app).await {
            work(&app, &id, |entry| rule(entry, app.now())).await;
        }
    };
    each(|entry, now| entry.begin_rendering(Uuid::nil(), now)).await;
    look("rendering").await;
    each(OutboxEntry::take_back).await;

    let mut patched = patch_all(&app, json!({ "scheduled_at_millis": app.now().as_millisecond() + HOUR })).await;
    app.send_emails().await;
    look("scheduled").await;
    patched.extend(patch_all(&app, json!({ "is_paused": true })).await);
    look("paused").await;
    patched.extend(patch_all(&app, json!({ "is_paused": false, "scheduled_at_millis": 0 })).await);
    each(OutboxEntry::enqueue).await;
    look("queued").await;
    each(|entry, now| entry.begin_sending(Uuid::nil(), now)).await;
    look("sending").await;
    each(OutboxEntry::take_back).await;

    app.send_emails_by(&RepeatingServer).await;
    look("server-error").await;
    for id in ids(&app).await {
        let entry = read(&app, &id).await;
        for (message, start) in [("internal_message", "550 "), ("external_message", "refused: 550 ")] {
            let said = entry["send_attempt_errors"][0][message].as_str().unwrap();
            assert!(said.starts_with(start) && said.contains(HIDDEN) && said.contains("<html"), "{said}");
        }
        assert!(entry["html"].as_str().unwrap().contains(&format!("code={HIDDEN}")), "the link is shown without its code");
    }
    patched.extend(patch_all(&app, json!({ "subject_source": "Again {{ variables.otp|default('') }}" })).await);
    app.send_emails().await;
    look("sent").await;
    let codes = codes(&app);
    app.advance(SignedDuration::from_hours(25));
    look("sent").await;
    seen.extend(patched);
    assert_no_code(&seen, &codes);
}

#[tokio::test]
async fn the_emails_arrive_with_working_codes() {
    let app = TestApp::start().await;
    ask(&app).await;
    app.send_emails().await;
    assert_eq!(codes(&app).len(), 6);
    let sign_in = app.last_mail("ada@example.com").await;
    let typed = sign_in.code()[..6].to_uppercase();
    assert!(sign_in.0.subject.ends_with(&typed) && sign_in.0.html.contains(&typed) && !sign_in.0.html.contains(HIDDEN));
    assert_eq!(otp_sign_in(&app, &sign_in.code()).await.status(), 200);
    assert_eq!(reset(&app, &app.last_mail("bob@example.com").await.code()).await.status(), 200);
    assert_eq!(verify(&app, &app.last_mail("eve@example.com").await.code()).await.status(), 200);
}

/// Turns the entries into entries of an earlier version, which stored codes in plaintext among the
/// variables.
async fn age(app: &TestApp) {
    for id in ids(app).await {
        let row = row(app, &id).await;
        let variables = sealed::opened(&app.app, app.project_id(), &row.entry).unwrap();
        let store = &app.app.store;
        let update = UpdateItemInput::builder().table_name(store.table()).update_expression("SET d.#v = :v REMOVE d.codes");
        let update = update.key("pk", AttributeValue::S(format!("M#{}#{id}", app.project_id())));
        let update = update.key("sk", AttributeValue::S("ENTRY".to_owned())).expression_attribute_names("#v", "variables");
        let update = update.expression_attribute_values(":v", AttributeValue::S(Value::Object(variables).to_string()));
        store.client().call(update).await.unwrap();
    }
}

#[tokio::test]
async fn plaintext_codes_of_an_earlier_version_are_hidden_and_still_sent() {
    for is_rendered_before in [false, true] {
        let app = TestApp::start().await;
        ask(&app).await;
        age(&app).await;
        let mut seen = answers(&app).await;
        if is_rendered_before {
            seen.extend(patch_all(&app, json!({ "scheduled_at_millis": app.now().as_millisecond() + HOUR })).await);
            app.send_emails().await;
            assert_eq!(statuses(&app).await, BTreeSet::from(["scheduled".to_owned()]));
            seen.extend(answers(&app).await);
            seen.extend(patch_all(&app, json!({ "scheduled_at_millis": 0 })).await);
        }
        app.send_emails().await;
        seen.extend(answers(&app).await);
        assert!(seen.iter().all(|answer| answer.contains(HIDDEN)));
        // Once an email is sent or discarded, the table does not contain its codes in any form.
        seen.extend(stored(&app).await);
        assert_no_code(&seen, &codes(&app));
        assert_eq!(otp_sign_in(&app, &app.last_mail("ada@example.com").await.code()).await.status(), 200);
        assert_eq!(verify(&app, &app.last_mail("eve@example.com").await.code()).await.status(), 200);
    }
}

#[tokio::test]
async fn editing_an_email_cannot_redirect_its_code() {
    let app = TestApp::start().await;
    ask(&app).await;
    for is_of_version_before in [false, true] {
        if is_of_version_before {
            age(&app).await;
        }
        for id in ids(&app).await {
            let to = json!({ "type": "custom-emails", "emails": ["mallory@example.com"] });
            let answer = app.server().patch(&path(&id), json!({ "to": to })).await;
            assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
            assert!(answer.text().contains("body.to"), "{}", answer.text());
            let kept = app.server().patch(&path(&id), json!({ "to": read(&app, &id).await["to"] })).await;
            assert_eq!(kept.status(), 200, "{}", kept.text());
        }
    }
    assert!(app.mails("mallory@example.com").await.is_empty());
    assert_eq!(codes(&app).len(), 6);
}
