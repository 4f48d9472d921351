//! The entries of the outbox as they are stored, with tests about their size and about the forms
//! that earlier versions wrote.

use flows::email::sealed;
use model::outbox::codes;
use secrecy::SecretString;
use serde_json::{Value, json};
use support::TestApp;
use wire::id::EmailId;

use super::{OUTBOX, read};

const SEND: &str = "/api/v1/auth/otp/send-sign-in-code";

/// Requests a sign-in code, and returns the id of its entry.
async fn asked(app: &TestApp, email: &str, callback: &str) -> String {
    let body = json!({ "email": email, "callback_url": callback });
    assert_eq!(app.client().post(SEND, body).await.status(), 200);
    app.server().get(OUTBOX).await.json()["items"][0]["id"].as_str().unwrap().to_owned()
}

/// If an entry were longer, each change would cost two more units, and three to four more in a
/// transaction.
#[tokio::test]
async fn an_email_with_a_code_stays_below_a_kilobyte() {
    let app = TestApp::start().await;
    asked(&app, "ada.lovelace@mail.example.com", "http://localhost:3000/handler/magic-link-callback").await;
    app.recorder.trace(app.database());
    app.send_emails().await;
    let calls = app.recorder.take_traced();
    let of_entry = calls.iter().filter(|call| call.items.iter().any(|((_, sk), _)| sk == "ENTRY"));
    // The entry costs one unit, the list costs one unit, and the entry's place in the queues costs
    // two units. The outcome is written with a counter, and the entry leaves the queues.
    let units: Vec<_> = of_entry.filter(|call| support::is_write(&call.operation)).map(|call| call.units).collect();
    assert_eq!(units, [4.0, 4.0, 4.0, 6.0]);
}

/// Rewrites an entry as version 0.1.0 stored it. This version stored the entry's id, values that
/// are now omitted, complete masks, and whole links sealed as text.
async fn make_older(app: &TestApp, id: &str) {
    let (project, email) = (app.project_id(), EmailId::parse(id).unwrap());
    let row = app.app.store.outbox_entry(project, email).await.unwrap().unwrap();
    let plain = sealed::opened(&app.app, project, &row.entry).unwrap();
    let seal = |name: &str| {
        let value = SecretString::from(plain[name].as_str().unwrap().to_owned());
        let sealed = app.app.sealer.seal(&app.app.entropy, &codes::owner(project.as_str(), id, name), &value);
        json!({ "S": sealed.unwrap().into_text() })
    };
    let mut item = app.table().remove(&(format!("M#{project}#{id}"), "ENTRY".to_owned())).unwrap();
    let fields = item["d"]["M"].as_object_mut().unwrap();
    assert!(["id", "category", "created_with", "failures", "is_paused"].iter().all(|name| !fields.contains_key(*name)));
    let older = json!({
        "id": { "S": id },
        "category": { "S": "Transactional" },
        "created_with": { "S": "programmatic-call" },
        "failures": { "L": [] },
        "is_paused": { "BOOL": false },
        "skip_deliverability_check": { "BOOL": false },
        "variables": { "S": serde_json::to_string(&row.entry.variables).unwrap() },
        "codes": { "M": { "link": seal("link"), "otp": seal("otp") } },
    });
    fields.extend(older.as_object().unwrap().clone());
    fields["source"]["M"]["theme_id"] = json!({ "S": row.entry.source.theme_id.unwrap().to_string() });
    let put = json!({ "TableName": gateway::engine::TABLE, "Item": item });
    app.database().put_item(serde_json::from_value(put).unwrap()).unwrap();
}

fn codes_of(app: &TestApp, id: &str) -> Value {
    app.table()[&(format!("M#{}#{id}", app.project_id()), "ENTRY".to_owned())]["d"]["M"]["codes"]["M"].clone()
}

#[tokio::test]
async fn an_earlier_versions_entry_is_shown_edited_and_sent_with_its_codes() {
    let app = TestApp::start().await;
    let id = asked(&app, "ada@example.com", "http://localhost:3000/x?a=1").await;
    let shown = read(&app, &id).await;
    make_older(&app, &id).await;
    assert_eq!(read(&app, &id).await, shown);
    assert_eq!(app.server().get(OUTBOX).await.json()["items"][0], shown);
    let edit = json!({ "variables": shown["variables"], "subject_source": "Hello {{ variables.otp }}" });
    let edited = app.server().patch(&super::path(&id), edit).await.json();
    assert_eq!(edited["variables"], shown["variables"]);
    let mail = app.last_mail("ada@example.com").await;
    assert!(mail.0.text.contains("http://localhost:3000/x?a=1&code="), "{}", mail.0.text);
    assert_eq!(mail.0.subject, format!("Hello {}", mail.code()[..6].to_uppercase()));
    assert_eq!(app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": mail.code() })).await.status(), 200);
    assert_eq!(read(&app, &id).await["status"], "sent");
}

#[tokio::test]
async fn sealed_codes_keep_their_form_when_they_are_resealed() {
    let app = TestApp::start().await;
    let new = crypto::deployment_secret::DeploymentSecret::from("the deployment secret that comes after it".to_owned());
    let old = "a deployment secret for tests alone".to_owned();
    let during = app.redeployed(|settings| settings.secret = new.with_previous(old.into()));
    for (is_older, kind) in [(false, "B"), (true, "S")] {
        let id = asked(&app, "ada@example.com", "http://localhost:3000/x").await;
        if is_older {
            make_older(&app, &id).await;
        }
        let before = codes_of(&app, &id);
        for item in app.app.store.items(None).await.unwrap().0 {
            assert!(during.app.store.reseal(&during.app.sealer, item).await.unwrap().lost.is_empty());
        }
        let after = codes_of(&app, &id);
        for name in ["link", "otp"] {
            assert!(before[name][kind].is_string() && after[name][kind].is_string() && before[name] != after[name], "{after}");
        }
        let code = during.last_mail("ada@example.com").await.code();
        assert_eq!(during.client().post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await.status(), 200);
    }
}
