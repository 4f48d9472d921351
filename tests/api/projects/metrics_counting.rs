//! Figures stay exact even if workers crash, lose responses, run twice or run late, or if accounts
//! are older than the counters.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use jiff::SignedDuration;
use model::limit::Limits;
use serde_json::json;
use support::{InjectedError, SignedInUser, TestApp};

use super::internal_metrics::{DAY, days, metrics, on};

/// The number of all users, of the users who were active on 1 January, and of the users who were
/// active in the last 30 days.
async fn figures(app: &TestApp) -> (u64, u64, u64) {
    let figures = metrics(app, "").await;
    let active = days(&figures["daily_active_users"]).get("01-01").copied().unwrap_or_default();
    (figures["total_users"].as_u64().unwrap(), active, figures["auth_overview"]["mau"].as_u64().unwrap())
}

async fn link(app: &TestApp) -> Result<usize, store::Error> {
    app.try_link(app.project_id()).await
}

async fn forget_counters(app: &TestApp) {
    let counters = app.table().into_keys().filter(|(pk, sk)| pk.starts_with("F#") || sk == "ACTIVE");
    for (pk, sk) in counters {
        let key = |text: String| AttributeValue::S(text);
        let delete = DeleteItemInput::builder().table_name(gateway::engine::TABLE).key("pk", key(pk)).key("sk", key(sk));
        app.app.store.client().call(delete).await.unwrap();
    }
}

// The clock is paused, so the waits between attempts take no time.
#[tokio::test(start_paused = true)]
async fn a_worker_that_fails_at_any_write_counts_everything_once() {
    let world = TestApp::start().await;
    world.sign_up("ada@example.com").await;
    link(&world).await.unwrap();
    for name in ["bob", "eve"] {
        world.sign_up(&format!("{name}@example.com")).await;
    }
    let world = world.snapshot();
    for fault in [InjectedError::NotMade, InjectedError::AnswerLost] {
        for write in 0..6 {
            let app = TestApp::start_from(&world, Limits::off()).await;
            app.recorder.break_writes(write, 40, fault.clone());
            link(&app).await.ok();
            app.recorder.clear();
            link(&app).await.unwrap();
            assert_eq!(figures(&app).await, (3, 3, 3), "write {write}");
        }
    }
}

#[tokio::test]
async fn events_delivered_twice_and_at_once_count_once() {
    let app = TestApp::start().await;
    for round in 0..4_u64 {
        for number in 0..5 {
            app.sign_up(&format!("user{round}-{number}@example.com")).await;
        }
        // Each delivery of the stream starts a worker. Workers that lose a race read the data
        // again.
        join_all((0..4).map(|_| link(&app))).await.into_iter().for_each(|linked| assert!(linked.is_ok()));
        link(&app).await.unwrap();
        let all = 5 * (round + 1);
        assert_eq!(figures(&app).await, (all, all, all));
    }
}

#[tokio::test]
async fn concurrent_refreshes_count_a_user_once() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(DAY);
    let refresh = || async {
        let caller = app.client().with("x-stack-refresh-token", &ada.refresh_token);
        assert_eq!(caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    };
    join_all((0..8).map(|_| refresh())).await;
    link(&app).await.unwrap();
    assert_eq!(days(&metrics(&app, "").await["daily_active_users"])["01-02"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_refresh_succeeds_when_counting_fails_and_the_next_one_counts() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let refresh = || async {
        let caller = app.client().with("x-stack-refresh-token", &ada.refresh_token);
        caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status()
    };
    // The first two writes are for the session and the user. The writes of the counters follow.
    app.recorder.break_writes(2, 100, InjectedError::NotMade);
    assert_eq!(refresh().await, 200);
    app.recorder.clear();
    assert_eq!(figures(&app).await.1, 0);
    assert_eq!(refresh().await, 200);
    assert_eq!(figures(&app).await.1, 1);
}

#[tokio::test]
async fn more_entries_than_fit_into_a_link_are_all_counted() {
    let app = TestApp::start().await;
    let countries = ["DE", "PT", "FR", "IT", "ES"];
    for number in 0..130 {
        let client = app.client().with("cloudfront-viewer-country", countries[number % 5]);
        let body = json!({ "email": format!("user{number}@example.com"), "password": "correct horse battery" });
        assert_eq!(client.post("/api/v1/auth/password/sign-up", body).await.status(), 200);
    }
    link(&app).await.unwrap();
    assert_eq!(figures(&app).await, (130, 130, 130));
    assert_eq!(metrics(&app, "").await["users_by_country"], json!({ "DE": 26, "PT": 26, "FR": 26, "IT": 26, "ES": 26 }));
}

#[tokio::test]
async fn a_malformed_user_does_not_keep_the_trail_from_being_linked() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let key = |text: String| AttributeValue::S(text);
    let update = UpdateItemInput::builder().table_name(gateway::engine::TABLE).update_expression("SET d.signed_up_at = :text");
    let update = update.key("pk", key(format!("U#{}#{}", app.project_id(), ada.user_id))).key("sk", key("USER".to_owned()));
    app.app.store.client().call(update.expression_attribute_values(":text", key("never".to_owned()))).await.unwrap();
    assert_eq!(link(&app).await.unwrap(), 1);
}

#[tokio::test]
async fn an_impersonator_does_not_make_a_user_active() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    link(&app).await.unwrap();
    app.advance(DAY);
    let session = json!({ "user_id": ada.user_id, "is_impersonation": true });
    let session = app.server().post("/api/v1/auth/sessions", session).await;
    assert_eq!(session.status(), 200, "{}", session.text());
    let caller = app.client().with("x-stack-refresh-token", session.json()["refresh_token"].as_str().unwrap());
    assert_eq!(caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
    link(&app).await.unwrap();
    assert_eq!(days(&metrics(&app, "").await["daily_active_users"]), on(&[("01-01", 1)]));
}

#[tokio::test]
async fn users_of_an_earlier_version_are_counted_with_the_next_link() {
    let app = TestApp::start().await;
    for name in ["ada", "bob", "eve"] {
        app.sign_up(&format!("{name}@example.com")).await;
    }
    link(&app).await.unwrap();
    forget_counters(&app).await;
    let before = metrics(&app, "").await;
    assert_eq!((&before["total_users"], &before["counted_at_millis"]), (&json!(0), &json!(null)));
    app.advance(SignedDuration::from_hours(1));
    app.sign_up("zoe@example.com").await;
    link(&app).await.unwrap();
    let after = metrics(&app, "").await;
    assert_eq!((&after["total_users"], &after["counted_at_millis"]), (&json!(4), &json!(app.now().as_millisecond())));
    assert_eq!(after["login_methods"], json!([{ "method": "password", "count": 4 }]));
}

#[tokio::test]
async fn a_recount_is_exact_while_users_sign_up_and_are_deleted() {
    let app = TestApp::start().await;
    let mut users: Vec<SignedInUser> = Vec::new();
    for number in 0..20 {
        users.push(app.sign_up(&format!("user{number}@example.com")).await);
    }
    forget_counters(&app).await;
    let changes = async {
        for (number, user) in users.iter().enumerate().take(15) {
            app.sign_up(&format!("new{number}@example.com")).await;
            let deleted = app.server().delete(&format!("/api/v1/users/{}", user.user_id)).await;
            assert_eq!(deleted.status(), 200, "{}", deleted.json());
            link(&app).await.unwrap();
        }
    };
    let recounts = async {
        for _ in 0..5 {
            // A recount may give up if accounts keep changing, but it must not store a wrong count.
            workers::recount::totals(&app.app, app.project_id(), 1000).await.ok();
            tokio::task::yield_now().await;
        }
    };
    tokio::join!(changes, recounts);
    link(&app).await.unwrap();
    assert_eq!(metrics(&app, "").await["total_users"], 20);
    let sum = workers::recount::totals(&app.app, app.project_id(), 1000).await.unwrap().unwrap();
    assert_eq!(sum.get(model::metrics::tally::USERS), 20);
    assert_eq!(metrics(&app, "").await["total_users"], 20);
    assert!(workers::recount::totals(&app.app, app.project_id(), 19).await.unwrap().is_none(), "there are more users");
}

#[tokio::test]
async fn a_link_whose_changes_cancel_each_other_out_is_noticed_by_a_recount() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    link(&app).await.unwrap();
    let before = app.app.store.totals(app.project_id()).await.unwrap();
    app.sign_up("bob@example.com").await;
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    link(&app).await.unwrap();
    // A recount that reads accounts between the two changes would store two users.
    let users = app.app.store.tallies_of_users(app.project_id(), 10).await.unwrap().unwrap();
    let stored = app.app.store.set_totals(app.project_id(), &before, &users, 0, app.app.clock.now()).await;
    assert!(matches!(stored, Err(store::Error::Conflict(_))), "{stored:?}");
    assert_eq!(metrics(&app, "").await["total_users"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_deleted_user_of_very_many_teams_is_subtracted_from_the_totals_once() {
    let app = TestApp::start().await;
    let (ada, _) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    for number in 0..60 {
        let team = json!({ "display_name": format!("Team {number}"), "creator_user_id": ada.user_id });
        assert_eq!(app.server().post("/api/v1/teams", team).await.status(), 201);
    }
    app.link_trail().await;
    let path = format!("/api/v1/users/{}", ada.user_id);
    // The first request is interrupted after some memberships. Two more requests complete the
    // deletion.
    app.recorder.break_writes(2, 100, InjectedError::NotMade);
    assert_ne!(app.server().delete(&path).await.status(), 200);
    app.recorder.clear();
    let (first, second) = (app.server(), app.server());
    tokio::join!(first.delete(&path), second.delete(&path));
    app.link_trail().await;
    let figures = metrics(&app, "").await;
    assert_eq!((&figures["total_users"], &figures["auth_overview"]["total_teams"]), (&json!(1), &json!(60)));
    assert_eq!(on(&[("01-01", 2)]), days(&figures["daily_users"]));
}
