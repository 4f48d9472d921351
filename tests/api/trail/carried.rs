//! If functions handle the requests, sessions and codes contain the trail's entries until the
//! stream's worker adds these to the trail.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use model::limit::Limits;
use model::trail::check::Problem;
use model::trail::{Actor, Entry, Event, Target, TargetKind};
use serde_json::{Value, json};
use support::{InjectedError, TestApp};
use wire::id::{ProjectId, SessionId, TrailEntryId, UserId};

use super::{project_trail, trail};
use crate::audit::chain::check;
use crate::events::{PROJECT, World, events};

/// The operations whose events start a session, or create or redeem a code.
const CARRYING: [&str; 14] = [
    "auth-anonymous-sign-up",
    "auth-cli-poll",
    "auth-mfa-sign-in",
    "auth-not-me",
    "auth-oauth-apple-native",
    "auth-oauth-client-token",
    "auth-otp-send-sign-in-code",
    "auth-otp-sign-in",
    "auth-passkey-sign-in",
    "auth-password-reset",
    "auth-password-send-reset-code",
    "auth-password-sign-in",
    "auth-password-sign-up",
    "auth-session-create",
];

/// The entry without the ids of the items that its request creates.
fn without_new_ids(mut entry: Entry) -> Entry {
    entry.id = TrailEntryId::from(uuid::Uuid::nil());
    if let Actor::User { session_id, .. } = &mut entry.actor {
        *session_id = SessionId::from(uuid::Uuid::nil());
    }
    if entry.events.contains(&Event::Created) {
        let nobody = UserId::from(uuid::Uuid::nil());
        entry.user_id = Some(nobody);
        entry.actor = Actor::Anonymous;
    }
    let is_session = |target: &Target| target.kind == TargetKind::Session;
    entry.targets.iter_mut().filter(|target| is_session(target)).for_each(|target| target.id.clear());
    entry
}

/// The entries that an event adds, and whether a session or a code contains these entries first.
async fn added(world: &World, event: &str) -> (Vec<Entry>, bool) {
    let project = ProjectId::parse(PROJECT).unwrap();
    let before: BTreeSet<_> = project_trail(&world.app, &project).await.into_iter().map(|entry| entry.id).collect();
    world.send(event).await;
    let event = world.app.carrying_sessions();
    let is_carried = event["Records"] != json!([]);
    if is_carried {
        let written = project_trail(&world.app, &project).await.len();
        assert_eq!(written, before.len(), "the request wrote an entry, too");
        world.app.process_trail(&event).await.unwrap();
    }
    let after = project_trail(&world.app, &project).await.into_iter();
    (after.filter(|entry| !before.contains(&entry.id)).map(without_new_ids).collect(), is_carried)
}

#[tokio::test]
async fn sessions_and_codes_carry_the_entries_that_their_requests_would_write() {
    let mut carrying = Vec::new();
    for (name, event) in events().into_iter().filter(|(name, _)| name.starts_with("auth-")) {
        let world = async || World::new(Limits::standard()).await;
        let (found, is_carried) = added(&world().await.of_functions(), &event).await;
        if is_carried {
            assert_eq!((found.len(), &found), (1, &added(&world().await, &event).await.0), "{name}");
            carrying.push(name);
        }
    }
    carrying.sort_unstable();
    assert_eq!(carrying, CARRYING);
}

/// Two users whose sign-ins were handled by functions.
async fn signed_in() -> TestApp {
    let app = TestApp::start().await;
    for name in ["ada", "bob"] {
        app.sign_up(&format!("{name}@example.com")).await;
    }
    app.link_trail().await;
    let app = app.as_functions();
    for name in ["ada", "bob"] {
        app.sign_in(&format!("{name}@example.com")).await;
    }
    app
}

// The clock is paused, so the waits between attempts take no time.
#[tokio::test(start_paused = true)]
async fn a_worker_that_fails_at_any_write_adds_every_entry_once() {
    let world = signed_in().await;
    let (event, world) = (world.carrying_sessions(), world.snapshot());
    for fault in [InjectedError::NotMade, InjectedError::AnswerLost] {
        for write in 0..6 {
            let app = TestApp::start_from(&world, Limits::off()).await;
            app.recorder.break_writes(write, 40, fault.clone());
            app.process_trail(&event).await.ok();
            app.recorder.clear();
            // The stream delivers the batch again.
            app.process_trail(&event).await.unwrap();
            app.process_trail(&event).await.unwrap();
            let entries = trail(&app).await;
            assert_eq!(entries.len(), 4, "write {write}");
            assert_eq!(entries.iter().filter(|entry| entry.events == [Event::SignIn]).count(), 2, "write {write}");
            assert_eq!(check(&app).await.counts(), [(4, 2, 0)], "write {write}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_gateway_goes_on_if_entries_of_functions_are_added_but_not_linked() {
    let app = signed_in().await;
    let event = app.carrying_sessions();
    app.recorder.break_writes(2, 40, InjectedError::NotMade);
    workers::trail::process_carried(&app.app, &event).await.unwrap();
    app.recorder.clear();
    assert_eq!(trail(&app).await.len(), 4);
    assert_eq!(app.link_trail().await, 2);
}

#[tokio::test]
async fn an_entry_added_late_is_linked_behind_later_ones() {
    let app = signed_in().await;
    app.advance(SignedDuration::from_mins(30));
    app.configure(json!({ "config": { "audit_log_retention_days": 5 } })).await;
    assert_eq!(app.link_trail().await, 1);
    app.advance(SignedDuration::from_mins(30));
    let event = app.carrying_sessions();
    assert_eq!(app.process_trail(&event).await.unwrap(), 2);
    assert_eq!(app.process_trail(&event).await.unwrap(), 0, "delivered again");
    let found = check(&app).await;
    assert_eq!((found.problems(), found.counts()), (Vec::new(), vec![(5, 3, 0)]));
}

/// Someone who can write to the table must not be able to add entries to the past.
#[tokio::test]
async fn an_entry_older_than_the_stream_is_not_linked() {
    let app = signed_in().await;
    let event = app.carrying_sessions();
    app.advance(SignedDuration::from_hours(26));
    app.configure(json!({ "config": { "audit_log_retention_days": 5 } })).await;
    app.link_trail().await;
    app.process_trail(&event).await.unwrap();
    let problems = check(&app).await.problems();
    // Only the first problem of a day is reported.
    assert!(matches!(&problems[..], [Problem::EntryAdded(_)]), "{problems:?}");
}

#[tokio::test]
async fn a_deleted_project_gets_no_entries() {
    let world = World::new(Limits::off()).await.of_functions();
    assert_eq!(world.send("auth/password-sign-in").await.status(), 200);
    let event = world.app.carrying_sessions();
    assert_eq!(world.send("projects/internal-current-delete").await.status(), 200);
    world.app.end_deletions().await;
    let items = || world.app.table().into_keys().filter(|(pk, _)| pk.starts_with(&format!("P#{PROJECT}#TRAIL"))).count();
    let before = items();
    world.app.process_trail(&event).await.unwrap();
    assert_eq!(items(), before);
}

#[tokio::test]
async fn the_first_use_of_a_session_removes_the_entry() {
    let app = signed_in().await;
    let carrying = |event: &Value| event["Records"].as_array().unwrap().len();
    assert_eq!(carrying(&app.carrying_sessions()), 2);
    let ada = app.sign_in("ada@example.com").await;
    let refresh = app.client().with("x-stack-refresh-token", &ada.refresh_token);
    assert_eq!(carrying(&app.carrying_sessions()), 3);
    assert_eq!(refresh.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    assert_eq!(carrying(&app.carrying_sessions()), 2);
}

/// A larger item would cost another unit.
#[tokio::test]
async fn a_session_in_a_known_city_and_its_entry_fit_into_a_kilobyte() {
    let app = signed_in().await;
    let caller = [
        ("address", "2001:db8:1111:2222:3333:4444:5555:6666:4711"),
        ("city", "San Fernando del Valle de Catamarca"),
        ("country", "AR"),
        ("country-region", "K"),
        ("latitude", "-28.46957"),
        ("longitude", "-65.77954"),
        ("time-zone", "America/Argentina/Catamarca"),
    ];
    let caller = caller.into_iter().fold(app.client(), |caller, (name, value)| caller.with(&format!("cloudfront-viewer-{name}"), value));
    app.recorder.measure();
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    assert_eq!(caller.post("/api/v1/auth/password/sign-in", body).await.status(), 200);
    // The session costs one unit, and its place in the index costs another unit.
    assert!((app.recorder.consumed().write - 2.0).abs() < f64::EPSILON);
    app.recorder.clear();
    let event = app.carrying_sessions();
    app.process_trail(&event).await.unwrap();
    let places: Vec<_> = trail(&app).await.into_iter().filter_map(|entry| entry.place?.city_name).collect();
    assert_eq!(places, ["San Fernando del Valle de Catamarca"]);
}

/// A code contains the entry of the request that creates it, and later the entry of the request
/// that redeems it. Attempts in between do not add an entry.
#[tokio::test]
async fn each_change_of_a_code_adds_its_entry_once() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.link_trail().await;
    let app = app.as_functions();
    let mut changes = Vec::new();
    let images = |app: &TestApp| app.table().into_iter().find(|((pk, _), _)| pk.starts_with("C#")).map(|(_, item)| item);
    let mut before = None;
    let mut note = |app: &TestApp| {
        let after = images(app).unwrap();
        let key = json!({ "pk": after["pk"], "sk": after["sk"] });
        let mut change = json!({
            "Keys": key, "NewImage": after, "SequenceNumber": changes.len().to_string(),
            "ApproximateCreationDateTime": app.now().as_second(),
        });
        if let Some(old) = before.replace(after) {
            change["OldImage"] = old;
        }
        changes.push(json!({ "eventName": "MODIFY", "dynamodb": change }));
    };
    let body = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/reset" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
    note(&app);
    let code = app.last_mail("ada@example.com").await.code();
    assert_eq!(app.client().post("/api/v1/auth/password/reset/check-code", json!({ "code": code })).await.status(), 200);
    note(&app);
    let body = json!({ "code": code, "password": "correct horse batteries" });
    assert_eq!(app.client().post("/api/v1/auth/password/reset", body).await.status(), 200);
    note(&app);
    let event = json!({ "Records": changes });
    assert_eq!(trail(&app).await.len(), 1);
    assert_eq!(app.process_trail(&event).await.unwrap(), 2);
    assert_eq!(app.process_trail(&event).await.unwrap(), 0, "delivered again");
    let entries = trail(&app).await;
    let operations: BTreeSet<_> = entries.iter().map(|entry| entry.operation.as_str()).collect();
    assert_eq!((entries.len(), operations.len()), (3, 3), "{operations:?}");
    assert!(entries.iter().any(|entry| entry.events.contains(&Event::PasswordReset)));
    assert_eq!(check(&app).await.problems(), Vec::new());
}
