//! Failed authentications within a minute share an entry with a count, and so do sign-ups that the
//! project's rules reject. Other requests that are rejected, lose a race or fail do not add an
//! entry.

use jiff::SignedDuration;
use model::trail::{Actor, Event};
use serde_json::json;
use support::{InjectedError, TestApp, refused};

use super::{id, listed, one, operation_entries, trail, user_of};

const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const ME: &str = "/api/v1/users/me";

async fn guess(app: &TestApp, email: &str) {
    let body = json!({ "email": email, "password": "a wrong horse battery" });
    assert_eq!(app.client().post(SIGN_IN, body).await.code(), "EMAIL_PASSWORD_MISMATCH");
}

#[tokio::test]
async fn failed_sign_ins_within_a_minute_are_one_counted_entry() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..3 {
        guess(&app, "ada@example.com").await;
    }
    for email in ["nobody@example.com", "no address"] {
        guess(&app, email).await;
    }
    app.advance(SignedDuration::from_secs(60));
    guess(&app, "ada@example.com").await;

    let failed = operation_entries(&app, "auth-password-sign-in").await;
    let counts: Vec<_> = failed.iter().map(|entry| (entry.user_id, entry.count)).collect();
    assert_eq!(counts.len(), 3, "{failed:?}");
    assert!(counts.contains(&(Some(id(&ada)), 3)) && counts.contains(&(None, 2)) && counts.contains(&(Some(id(&ada)), 1)));
    assert!(failed.iter().all(|entry| entry.events == [Event::SignInFailed] && entry.actor == Actor::Anonymous));
    assert_eq!(failed.last().map(|entry| entry.at), Some(app.now()));

    // The account's list also contains the failures, which expire like other entries.
    let own = listed(&app, app.project_id(), Some(id(&ada))).await;
    let own: Vec<u32> = own.iter().filter(|entry| entry.events == [Event::SignInFailed]).map(|entry| entry.count).collect();
    assert_eq!(own, [3, 1]);
    for (key, item) in app.table().into_iter().filter(|((pk, _), _)| pk.contains("#TRAIL#2")) {
        let at: i64 = key.1[..15].parse().unwrap();
        assert_eq!(item["ttl"]["N"].as_str().unwrap().parse(), Ok(at / 1000 + 90 * 86_400), "{key:?}");
    }
}

#[tokio::test]
async fn a_failure_in_the_minute_of_the_projects_creation_is_listed() {
    let mut app = TestApp::start().await;
    app.advance(SignedDuration::from_secs(90));
    app.keys = app.another_project().await;
    app.sign_up("ada@example.com").await;
    guess(&app, "ada@example.com").await;
    let answer = app.admin().get("/api/v1/internal/audit-log?event=sign-in-failed").await.json();
    let failed = answer["items"].as_array().unwrap();
    assert_eq!(failed.len(), 1, "{answer}");
    assert!(failed[0]["at"].as_str().unwrap() < app.now().to_string().as_str(), "{answer}");
}

#[tokio::test]
async fn a_failed_reauthentication_is_recorded_as_such() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    let update = json!({ "old_password": "a wrong horse battery", "new_password": "a better horse battery" });
    for (path, body) in [
        ("/api/v1/auth/password/update", update),
        ("/api/v1/auth/sessions/current/reauthenticate", json!({ "password": "a wrong horse battery" })),
    ] {
        assert_eq!(caller.post(path, body).await.code(), "PASSWORD_CONFIRMATION_MISMATCH");
    }
    for operation in ["auth-password-update", "auth-session-reauthenticate"] {
        let entry = one(&app, operation).await;
        assert_eq!((entry.events.as_slice(), entry.user_id, user_of(&entry)), (&[Event::ProofFailed][..], Some(id(&ada)), Some(id(&ada))));
    }
}

#[tokio::test]
async fn a_wrong_sign_in_code_is_a_failed_sign_in_of_its_account() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let code = app.sign_in_code("ada@example.com").await;
    let wrong = if code.starts_with("000000") { "111111" } else { "000000" };
    let guess = json!({ "code": format!("{wrong}{}", &code[6..]) });
    assert_eq!(app.client().post("/api/v1/auth/otp/sign-in", guess).await.code(), "VERIFICATION_CODE_NOT_FOUND");
    let failed: Vec<_> =
        operation_entries(&app, "auth-otp-sign-in").await.into_iter().filter(|it| it.events == [Event::SignInFailed]).collect();
    assert_eq!(failed.iter().map(|entry| (entry.user_id, entry.count)).collect::<Vec<_>>(), [(Some(id(&ada)), 1)]);
}

#[tokio::test]
async fn a_rejected_request_leaves_no_entry() {
    let app = TestApp::start().await;
    let (ada, eve) = (app.sign_up("ada@example.com").await, app.sign_up("eve@example.com").await);
    let before = trail(&app).await;
    let (client, server) = (app.signed_in(&eve), app.server());
    let team = "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21";
    let channel = json!({ "user_id": eve.user_id, "value": "ada@example.com", "type": "email", "used_for_auth": true });
    let taken = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let answers = [
        (client.patch(ME, json!({ "display_name": 7 })).await, 400),
        (client.patch(ME, json!({ "unknown": true })).await, 400),
        (client.patch(&format!("/api/v1/users/{}", ada.user_id), json!({})).await, 401),
        (client.delete(&format!("/api/v1/auth/sessions?user_id={}", ada.user_id)).await, 403),
        (client.delete(&format!("/api/v1/teams/{team}")).await, 401),
        (server.patch(&format!("/api/v1/teams/{team}"), json!({ "display_name": "Looms" })).await, 404),
        (server.post("/api/v1/contact-channels", channel).await, 409),
        (app.client().post("/api/v1/auth/password/sign-up", taken).await, 409),
        (app.admin().patch("/api/v1/internal/projects/current", json!({ "config": { "password_min_length": 1 } })).await, 400),
    ];
    for (answer, status) in &answers {
        assert!(answer.status() == *status || (400..500).contains(&answer.status()), "{} {}", answer.status(), answer.text());
    }
    assert_eq!(trail(&app).await, before);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_loser_of_a_race_leaves_no_entry() {
    let app = TestApp::start().await;
    app.sign_in_by_mail("ada@example.com").await;
    let before = operation_entries(&app, "auth-otp-sign-in").await.len();
    let code = app.sign_in_code("ada@example.com").await;
    let redeem = || {
        let (client, body) = (app.client(), json!({ "code": code }));
        tokio::spawn(async move { client.post("/api/v1/auth/otp/sign-in", body).await.status() })
    };
    let mut statuses = Vec::new();
    for request in (0..3).map(|_| redeem()).collect::<Vec<_>>() {
        statuses.push(request.await.unwrap());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1);
    assert_eq!(operation_entries(&app, "auth-otp-sign-in").await.len(), before + 1);
}

#[tokio::test]
async fn a_retried_change_leaves_one_entry() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    // The user changes between the read and the write of the operation.
    app.recorder.clear();
    app.recorder.break_writes(0, 1, conflict());
    let answer = app.signed_in(&ada).patch(ME, json!({ "display_name": "Ada" })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert!(app.recorder.is_done());
    assert_eq!(one(&app, "users-me-update").await.fields, ["display_name"]);
}

/// The response to a transaction whose first condition fails.
fn conflict() -> InjectedError {
    let reasons = json!([{ "Code": "ConditionalCheckFailed", "Message": "x" }, { "Code": "None" }]);
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#TransactionCanceledException",
        "Message": "injected by a test",
        "CancellationReasons": reasons,
    });
    InjectedError::Refused { status: 400, body: body.to_string() }
}

#[tokio::test]
async fn an_entry_is_written_atomically_with_its_change() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    let name = async || caller.get(ME).await.json()["display_name"].clone();
    app.recorder.clear();
    app.recorder.break_writes(0, 1, refused("AccessDeniedException"));
    assert_eq!(caller.patch(ME, json!({ "display_name": "Ada" })).await.status(), 500);
    assert_eq!((name().await, operation_entries(&app, "users-me-update").await.len()), (json!(null), 0));

    app.recorder.clear();
    app.recorder.break_writes(0, 1, InjectedError::AnswerLost);
    assert_eq!(caller.patch(ME, json!({ "display_name": "Ada" })).await.status(), 200);
    let calls: Vec<String> = app.recorder.writes().into_iter().map(|(call, _)| call).collect();
    assert!(calls.iter().all(|call| call == "TransactWriteItems"), "{calls:?}");
    assert_eq!((name().await, operation_entries(&app, "users-me-update").await.len()), (json!("Ada"), 1));
}
