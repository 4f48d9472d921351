//! `GET /api/v1/auth/sessions`, with tests about which sessions are listed and who may list them.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

use super::{assert_error, assert_takes_client_access, problems};
use crate::stored;

const PATH: &str = "/api/v1/auth/sessions";
const UNKNOWN: &str = "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21";

fn items(list: &Value) -> &[Value] {
    list["items"].as_array().unwrap()
}

#[tokio::test]
async fn a_session_is_listed_with_all_its_fields() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let list = app.signed_in(&ada).get(PATH).await;
    assert_eq!(list.status(), 200, "{}", list.text());
    let (list, now) = (list.json(), app.now().as_millisecond());
    let id = items(&list)[0]["id"].as_str().unwrap();
    assert_eq!(
        list,
        json!({
            "items": [{
                "id": id,
                "user_id": ada.user_id,
                "created_at": now,
                "is_impersonation": false,
                "last_used_at": now,
                "is_current_session": true,
                "last_used_at_end_user_ip_info": { "ip": "127.0.0.1" },
            }],
            "is_paginated": true,
            "pagination": { "next_cursor": null },
        })
    );
}

#[tokio::test]
async fn sessions_are_listed_newest_first_and_the_current_one_is_marked() {
    let app = TestApp::start().await;
    let first = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    let second = app.sign_in("ada@example.com").await;
    app.sign_up("bob@example.com").await;

    let list = app.signed_in(&first).get(PATH).await.json();
    let current: Vec<&Value> = items(&list).iter().map(|session| &session["is_current_session"]).collect();
    assert_eq!(current, [false, true]);
    assert!(items(&list)[0]["created_at"].as_i64() > items(&list)[1]["created_at"].as_i64());

    let list = app.signed_in(&second).get(&format!("{PATH}?user_id=me")).await.json();
    let current: Vec<&Value> = items(&list).iter().map(|session| &session["is_current_session"]).collect();
    assert_eq!(current, [true, false]);
}

#[tokio::test]
async fn a_session_s_last_use_is_recorded_with_its_place() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_mins(5));
    let viewer = [
        ("cloudfront-viewer-address", "2001:db8::7:4711"),
        ("cloudfront-viewer-country", "DE"),
        ("cloudfront-viewer-country-region", "BE"),
        ("cloudfront-viewer-city", "Berlin"),
        ("cloudfront-viewer-latitude", "52.52437"),
        ("cloudfront-viewer-longitude", "13.41053"),
        ("cloudfront-viewer-time-zone", "Europe/Berlin"),
        ("x-forwarded-for", "198.51.100.9"),
        ("x-real-ip", "198.51.100.9"),
    ];
    let caller = app.client().with("x-stack-refresh-token", &ada.refresh_token);
    let caller = viewer.into_iter().fold(caller, |caller, (name, value)| caller.with(name, value));
    assert_eq!(caller.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 200);

    let list = app.signed_in(&ada).get(PATH).await.json();
    let session = &items(&list)[0];
    assert_eq!(session["last_used_at"], app.now().as_millisecond());
    assert_eq!(session["created_at"], app.now().as_millisecond() - 300_000);
    let place = json!({
        "ip": "2001:db8::7", "countryCode": "DE", "regionCode": "BE", "cityName": "Berlin",
        "latitude": 52.52437, "longitude": 13.41053, "tzIdentifier": "Europe/Berlin",
    });
    assert_eq!(session["last_used_at_end_user_ip_info"], place);
}

#[tokio::test]
async fn untrusted_headers_are_not_used_as_a_place() {
    let app = TestApp::start().await;
    let forged = ["x-forwarded-for", "x-real-ip", "forwarded", "true-client-ip", "cf-connecting-ip", "x-vercel-ip-country"];
    let caller = forged.into_iter().fold(app.client(), |caller, name| caller.with(name, "198.51.100.9"));
    let caller = caller.with("cloudfront-viewer-address", "nonsense").with("cloudfront-viewer-latitude", "NaN");
    let caller = caller.with("cloudfront-viewer-longitude", "-180.1").with("cloudfront-viewer-country", "");
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let ada = support::SignedInUser::of("", &caller.post("/api/v1/auth/password/sign-up", body).await.json());
    let list = app.signed_in(&ada).get(PATH).await.json();
    assert_eq!(items(&list)[0]["last_used_at_end_user_ip_info"], json!({ "ip": "127.0.0.1" }));
}

#[tokio::test]
async fn an_unknown_place_is_absent() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    stored::add_sessions(&app, &ada, 1, |_| {}).await;
    let list = app.signed_in(&ada).get(PATH).await.json();
    assert!(items(&list)[0].get("last_used_at_end_user_ip_info").is_none(), "{list}");
}

#[tokio::test]
async fn ended_and_expired_sessions_are_not_listed() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "session_max_idle_seconds": 3600 } })).await;
    let kept = app.sign_up("ada@example.com").await;
    let signed_out = app.sign_in("ada@example.com").await;
    stored::add_sessions(&app, &kept, 1, |session| session.expires_at = session.created_at).await;
    stored::add_sessions(&app, &kept, 1, |session| session.epoch = 7).await;
    stored::add_sessions(&app, &kept, 1, |session| session.last_used_at -= SignedDuration::from_secs(3600)).await;
    app.signed_in(&signed_out).delete("/api/v1/auth/sessions/current").await;

    let list = app.signed_in(&kept).get(PATH).await.json();
    assert_eq!(items(&list).len(), 1, "{list}");
    assert_eq!(items(&list)[0]["is_current_session"], true);

    app.advance(SignedDuration::from_hours(1));
    let list = app.server().get(&format!("{PATH}?user_id={}", kept.user_id)).await.json();
    assert_eq!(list, json!({ "items": [], "is_paginated": true, "pagination": { "next_cursor": null } }));
}

#[tokio::test]
async fn ending_all_other_sessions_keeps_the_current_one_listed() {
    let app = TestApp::start().await;
    let (old, kept) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    let list = app.signed_in(&kept).get(PATH).await.json();
    let current = items(&list).iter().find(|session| session["is_current_session"] == true).unwrap();
    let id = wire::id::SessionId::parse(current["id"].as_str().unwrap()).unwrap();
    stored::change_user(&app, &kept, |user| user.end_sessions(Some(id))).await;
    let list = app.signed_in(&kept).get(PATH).await.json();
    assert_eq!((items(&list).len(), &items(&list)[0]["id"]), (1, &current["id"]));
    assert_error(&app.signed_in(&old).get(PATH).await, 401, "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn impersonation_is_only_shown_to_administrators() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    stored::add_sessions(&app, &ada, 1, |session| session.is_impersonation = true).await;
    let path = format!("{PATH}?user_id={}", ada.user_id);
    assert_eq!(items(&app.signed_in(&ada).get(&path).await.json()).len(), 1);
    assert_eq!(items(&app.server().get(&path).await.json()).len(), 1);
    let all = app.admin().get(&path).await.json();
    assert_eq!(items(&all).iter().filter(|session| session["is_impersonation"] == true).count(), 1);
    assert_eq!(items(&all).len(), 2);
}

#[tokio::test]
async fn a_client_lists_only_its_own_sessions() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    for user in [bob.user_id.as_str(), UNKNOWN] {
        assert_error(&app.signed_in(&ada).get(&format!("{PATH}?user_id={user}")).await, 403, "FORBIDDEN");
        assert_error(&app.client().get(&format!("{PATH}?user_id={user}")).await, 403, "FORBIDDEN");
    }
    assert_error(&app.client().get(PATH).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_error(&app.client().get(&format!("{PATH}?user_id=me")).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    stored::delete_user(&app, &ada).await;
    assert_error(&app.signed_in(&ada).get(PATH).await, 401, "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn a_server_must_name_the_user() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let list = app.server().get(&format!("{PATH}?user_id={}", ada.user_id)).await.json();
    assert_eq!((items(&list).len(), &items(&list)[0]["is_current_session"]), (1, &json!(false)));

    assert_eq!(problems(&app.server().get(PATH).await), ["query.user_id is required"]);
    let details = assert_error(&app.server().get(&format!("{PATH}?user_id={UNKNOWN}")).await, 400, "USER_ID_DOES_NOT_EXIST");
    assert_eq!(details, json!({ "user_id": UNKNOWN }));
    let acting = app.server().with("x-stack-access-token", &ada.access_token).get(&format!("{PATH}?user_id=me")).await.json();
    assert_eq!(items(&acting)[0]["is_current_session"], true);

    let other = app.another_project().await;
    let elsewhere = app.server_of(&other).get(&format!("{PATH}?user_id={}", ada.user_id)).await;
    assert_error(&elsewhere, 400, "USER_ID_DOES_NOT_EXIST");
}

#[tokio::test]
async fn client_access_is_required() {
    let app = TestApp::start().await;
    assert_takes_client_access(&app, "GET", PATH).await;
}
