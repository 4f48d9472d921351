//! `GET /api/v1/internal/metrics`.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::authenticator::{Page, SoftPasskey};
use support::{Caller, SignedInUser, TestApp};
use wire::id::ProjectId;

pub(super) const PATH: &str = "/api/v1/internal/metrics";
pub(super) const DAY: SignedDuration = SignedDuration::from_hours(24);

pub(super) async fn metrics(app: &TestApp, query: &str) -> Value {
    let answer = app.admin().get(&format!("{PATH}{query}")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

/// The points of a series that are not zero, by month and day.
pub(super) fn days(series: &Value) -> BTreeMap<String, u64> {
    let points = series.as_array().unwrap().iter();
    let points = points.map(|point| (point["date"].as_str().unwrap()[5..].to_owned(), point["activity"].as_u64().unwrap()));
    points.filter(|(_, activity)| *activity > 0).collect()
}

pub(super) fn on(days: &[(&str, u64)]) -> BTreeMap<String, u64> {
    days.iter().map(|(day, count)| ((*day).to_owned(), *count)).collect()
}

async fn anonymous(app: &TestApp) -> SignedInUser {
    SignedInUser::of("", &app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json())
}

async fn refresh(app: &TestApp, user: &SignedInUser) {
    let caller = app.client().with("x-stack-refresh-token", &user.refresh_token);
    assert_eq!(caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);
}

fn from(caller: &Caller, country: &str) -> Caller {
    caller.clone().with("cloudfront-viewer-country", country)
}

#[tokio::test]
async fn only_administrators_see_the_figures() {
    let app = TestApp::start().await;
    for caller in [app.client(), app.server()] {
        let refused = caller.get(PATH).await;
        assert_eq!((refused.status(), refused.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    }
    for query in ["?nonsense=1", "?include_anonymous=perhaps"] {
        let unknown = app.admin().get(&format!("{PATH}{query}")).await;
        assert_eq!((unknown.status(), unknown.code().as_str()), (400, "SCHEMA_ERROR"));
    }
}

#[tokio::test]
async fn a_project_without_users_has_zeros_for_thirty_days() {
    let app = TestApp::start().await;
    let figures = metrics(&app, "").await;
    assert_eq!((&figures["total_users"], &figures["login_methods"]), (&json!(0), &json!([])));
    assert_eq!(figures["daily_users"].as_array().unwrap().len(), 30);
    assert_eq!(figures["daily_users"][29], json!({ "date": "2026-01-01", "activity": 0 }));
    assert_eq!(figures["daily_users"][0]["date"], "2025-12-03");
    for series in ["total", "new", "retained", "reactivated"] {
        for split in ["daily_active_users_split", "daily_active_teams_split"] {
            assert_eq!(figures["auth_overview"][split][series].as_array().unwrap().len(), 30);
        }
    }
    assert_eq!(figures["payments_overview"]["daily_subscriptions"], json!([]));
    assert_eq!(figures["analytics_overview"]["top_region"], Value::Null);
    assert_eq!(figures["email_overview"]["deliverability_rate"], 0.0);
}

#[tokio::test]
async fn users_with_a_passkey_are_counted_once() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    for number in [1, 2] {
        let started = app.start_registration(&ada).await;
        let passkey = SoftPasskey::create(&started.options, Page::default(), number);
        assert_eq!(app.register(&ada, &started.code, &passkey.registration(&started.options)).await.status(), 200);
    }
    app.link_trail().await;
    let expected = json!([{ "method": "passkey", "count": 1 }, { "method": "password", "count": 1 }]);
    assert_eq!(metrics(&app, "").await["login_methods"], expected);
}

#[tokio::test]
async fn users_are_counted_by_state_country_and_method() {
    let app = TestApp::start().await;
    let password = |email: &str| json!({ "email": email, "password": "correct horse battery" });
    for (email, country) in [("ada@example.com", "DE"), ("bob@example.com", "DE"), ("eve@example.com", "PT")] {
        let answer = from(&app.client(), country).post("/api/v1/auth/password/sign-up", password(email)).await;
        assert_eq!(answer.status(), 200);
    }
    app.sign_in_by_mail("mia@example.com").await;
    let nobody = anonymous(&app).await;
    assert_eq!(metrics(&app, "").await["total_users"], 0, "nothing is counted before the trail is linked");
    app.link_trail().await;
    let figures = metrics(&app, "").await;
    assert_eq!((&figures["total_users"], &figures["users_by_country"]), (&json!(4), &json!({ "DE": 2, "PT": 1 })));
    assert_eq!(figures["login_methods"], json!([{ "method": "password", "count": 3 }, { "method": "otp", "count": 1 }]));
    let state = |figures: &Value| {
        ["verified_users", "unverified_users", "anonymous_users"].map(|name| figures["auth_overview"][name].as_u64().unwrap())
    };
    assert_eq!(state(&figures), [1, 3, 1]);
    let with_anonymous = metrics(&app, "?include_anonymous=true").await;
    assert_eq!((&with_anonymous["total_users"], &with_anonymous["auth_overview"]["total_users_filtered"]), (&json!(5), &json!(5)));

    // An anonymous user signs up, a server verifies an address, and a user is deleted.
    let upgrade = app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
    assert_eq!(upgrade.post("/api/v1/auth/password/sign-up", password("zoe@example.com")).await.status(), 200);
    let ada = app.sign_in("ada@example.com").await.user_id;
    let verified = json!({ "primary_email_verified": true });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{ada}"), verified).await.status(), 200);
    let bob = app.sign_in("bob@example.com").await.user_id;
    assert_eq!(app.server().delete(&format!("/api/v1/users/{bob}")).await.status(), 200);
    app.link_trail().await;
    let figures = metrics(&app, "").await;
    assert_eq!((&figures["total_users"], &figures["users_by_country"]), (&json!(4), &json!({ "DE": 1, "PT": 1 })));
    assert_eq!(state(&figures), [2, 2, 0]);
    assert_eq!(days(&figures["daily_users"]), on(&[("01-01", 5)]), "sign-ups stay counted");
}

#[tokio::test]
async fn a_user_is_active_once_a_day() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    for _ in 0..3 {
        app.sign_in("ada@example.com").await;
        refresh(&app, &ada).await;
        app.link_trail().await;
    }
    app.advance(DAY);
    refresh(&app, &ada).await;
    refresh(&app, &ada).await;
    app.sign_in("ada@example.com").await;
    app.link_trail().await;
    app.advance(DAY * 2);
    // A refresh is counted immediately, without the worker.
    refresh(&app, &bob).await;
    let figures = metrics(&app, "").await;
    assert_eq!(days(&figures["daily_active_users"]), on(&[("01-01", 2), ("01-02", 1), ("01-04", 1)]));
    let split = &figures["auth_overview"]["daily_active_users_split"];
    assert_eq!((days(&split["new"]), days(&split["retained"])), (on(&[("01-01", 2)]), on(&[("01-02", 1)])));
    assert_eq!(days(&split["reactivated"]), on(&[("01-04", 1)]));
    assert_eq!(figures["auth_overview"]["mau"], 2);
    app.advance(DAY * 28);
    assert_eq!(metrics(&app, "").await["auth_overview"]["mau"], 1, "of the last 30 days, only Bob's activity on 4 January counts");
    app.advance(DAY * 3);
    assert_eq!(metrics(&app, "").await["auth_overview"]["mau"], 0);
}

#[tokio::test]
async fn an_anonymous_user_who_signs_up_is_active_as_a_user() {
    let app = TestApp::start().await;
    let nobody = anonymous(&app).await;
    app.link_trail().await;
    let active = async |query: &str| days(&metrics(&app, query).await["daily_active_users"]);
    assert_eq!((active("").await, active("?include_anonymous=true").await), (on(&[]), on(&[("01-01", 1)])));
    let upgrade = app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
    let body = json!({ "email": "zoe@example.com", "password": "correct horse battery" });
    assert_eq!(upgrade.post("/api/v1/auth/password/sign-up", body).await.status(), 200);
    app.link_trail().await;
    let figures = metrics(&app, "").await;
    assert_eq!(days(&figures["auth_overview"]["daily_active_users_split"]["new"]), on(&[("01-01", 1)]));
    assert_eq!((&figures["auth_overview"]["mau"], &figures["total_users"]), (&json!(1), &json!(1)));
}

#[tokio::test]
async fn a_team_is_active_when_a_user_who_selected_it_is() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "create_team_on_sign_up": true } })).await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    app.link_trail().await;
    app.advance(DAY);
    refresh(&app, &ada).await;
    let split = metrics(&app, "").await["auth_overview"]["daily_active_teams_split"].clone();
    assert_eq!((days(&split["total"]), days(&split["retained"])), (on(&[("01-01", 2), ("01-02", 1)]), on(&[("01-02", 1)])));
    assert_eq!(metrics(&app, "").await["auth_overview"]["total_teams"], 2);
    let me = app.signed_in(&app.sign_in(&bob.email).await).get("/api/v1/users/me").await.json();
    let team = me["selected_team"]["id"].as_str().unwrap();
    assert_eq!(app.server().delete(&format!("/api/v1/teams/{team}")).await.status(), 200);
    app.link_trail().await;
    assert_eq!(metrics(&app, "").await["auth_overview"]["total_teams"], 1);
    assert!(!app.table().keys().any(|(pk, sk)| sk == "ACTIVE" && pk.ends_with(team)));
}

#[tokio::test]
async fn the_newest_and_the_last_active_users_are_shown() {
    let app = TestApp::start().await;
    for number in 0..7 {
        app.sign_up(&format!("user{number}@example.com")).await;
        app.advance(SignedDuration::from_secs(10));
    }
    anonymous(&app).await;
    app.advance(DAY);
    app.sign_in("user0@example.com").await;
    let figures = metrics(&app, "").await;
    let emails = |list: &str| -> Vec<String> {
        let users = figures[list].as_array().unwrap().iter();
        users.map(|user| user["primary_email"].as_str().unwrap().trim_end_matches("@example.com").to_owned()).collect()
    };
    assert_eq!(emails("recently_registered"), ["user6", "user5", "user4", "user3", "user2"]);
    assert_eq!(emails("recently_active"), ["user0", "user6", "user5", "user4", "user3"]);
    assert_eq!(figures["recently_active"][0]["last_active_at_millis"], app.now().as_millisecond());
    let all = metrics(&app, "?include_anonymous=true").await;
    assert_eq!(all["recently_registered"][0]["is_anonymous"], true);
}

#[tokio::test]
async fn emails_are_counted_by_day_and_status() {
    let app = TestApp::start().await;
    let send = async |email: &str| {
        let body = json!({ "email": email, "callback_url": "http://localhost:3000/x" });
        assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    };
    send("ada@example.com").await;
    app.send_emails().await;
    app.advance(DAY);
    send("bob@example.com").await;
    app.send_emails().await;
    app.advance(SignedDuration::from_secs(1));
    send("eve@example.com").await;
    let emails = metrics(&app, "").await["email_overview"].clone();
    assert_eq!(days(&emails["daily_emails"]), on(&[("01-01", 1), ("01-02", 1)]));
    assert_eq!((&emails["emails_sent"], &emails["total_emails"]), (&json!(2), &json!(3)));
    assert_eq!(emails["emails_by_status"], json!({ "preparing": 1, "sent": 2 }));
    assert_eq!(emails["deliverability_status"], json!({ "delivered": 2, "bounced": 0, "error": 0, "in_progress": 1 }));
    assert_eq!((&emails["deliverability_rate"], &emails["bounce_rate"]), (&json!(1.0), &json!(0.0)));
    assert_eq!(emails["daily_emails_by_status"][29], json!({ "date": "2026-01-02", "ok": 1, "error": 0, "in_progress": 1 }));
    assert_eq!(emails["recent_emails"].as_array().unwrap().len(), 3);
    assert_eq!(emails["recent_emails"][0]["status"], "preparing");
}

#[tokio::test]
async fn the_figures_of_one_project_are_not_those_of_another() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    app.sign_up("ada@example.com").await;
    app.link_trail().await;
    app.try_link(&other.project_id).await.unwrap();
    let of_other = app.admin_of(&other).get(PATH).await.json();
    assert_eq!((&of_other["total_users"], &of_other["auth_overview"]["mau"]), (&json!(0), &json!(0)));
    assert_eq!((&of_other["recently_registered"], &of_other["recently_active"]), (&json!([]), &json!([])));
    assert_eq!(metrics(&app, "").await["total_users"], 1);
}

#[tokio::test]
async fn a_deleted_project_leaves_no_figures() {
    let app = TestApp::start().await;
    let id: &ProjectId = app.project_id();
    let ada = app.sign_up("ada@example.com").await;
    refresh(&app, &ada).await;
    app.link_trail().await;
    let figures = |app: &TestApp| app.table().into_keys().filter(|(pk, sk)| pk.starts_with(&format!("F#{id}")) || sk == "ACTIVE").count();
    assert!(figures(&app) >= 4, "{}", figures(&app));
    assert_eq!(app.admin().delete("/api/v1/internal/projects/current").await.status(), 200);
    app.advance(SignedDuration::from_mins(2));
    for _ in 0..3 {
        app.end_deletions().await;
    }
    assert_eq!(figures(&app), 0);
}
