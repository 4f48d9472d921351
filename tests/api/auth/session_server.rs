//! Sessions that servers start, and sessions that are ended by their id.

use jiff::SignedDuration;
use serde_json::json;
use support::{SignedInUser, TestApp};

const PATH: &str = "/api/v1/auth/sessions";
const REFRESH: &str = "/api/v1/auth/sessions/current/refresh";

async fn begin(app: &TestApp, body: serde_json::Value) -> SignedInUser {
    let answer = app.server().post(PATH, body.clone()).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let mut fields = answer.json();
    fields["user_id"] = body["user_id"].clone();
    SignedInUser::of("", &fields)
}

async fn session_ids(app: &TestApp, user: &SignedInUser) -> Vec<String> {
    let list = app.signed_in(user).get(PATH).await.json();
    list["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_server_starts_a_session_with_a_chosen_lifetime() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let session = begin(&app, json!({ "user_id": ada.user_id, "expires_in_millis": 60_000 })).await;
    assert_eq!(app.signed_in(&session).post(REFRESH, json!({})).await.status(), 200);
    app.advance(SignedDuration::from_secs(60));
    assert_eq!(
        app.signed_in(&session).without("x-stack-access-token").post(REFRESH, json!({})).await.code(),
        "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED"
    );
    for millis in [0, -1, 31_708_800_001_i64] {
        let refused = app.server().post(PATH, json!({ "user_id": ada.user_id, "expires_in_millis": millis })).await;
        assert_eq!(refused.code(), "SCHEMA_ERROR", "{millis}");
    }
    let nobody = app.server().post(PATH, json!({ "user_id": "00000000-0000-0000-0000-000000000000" })).await;
    assert_eq!(nobody.code(), "USER_ID_DOES_NOT_EXIST");
    let me = app.server().post(PATH, json!({ "user_id": "me" })).await;
    assert_eq!(me.code(), "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_eq!(app.client().post(PATH, json!({ "user_id": ada.user_id })).await.code(), "INSUFFICIENT_ACCESS_TYPE");
}

#[tokio::test]
async fn impersonation_is_only_visible_to_administrators() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    begin(&app, json!({ "user_id": ada.user_id, "is_impersonation": true })).await;
    assert_eq!(session_ids(&app, &ada).await.len(), 1);
    let path = format!("{PATH}?user_id={}", ada.user_id);
    assert_eq!(app.server().get(&path).await.json()["items"].as_array().map(Vec::len), Some(1));
    let all = app.admin().get(&path).await.json();
    assert_eq!((all["items"].as_array().map(Vec::len), &all["items"][0]["is_impersonation"]), (Some(2), &json!(true)));
}

#[tokio::test]
async fn a_session_can_be_ended_by_its_user_or_a_server() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    let second = app.sign_in("ada@example.com").await;
    app.advance(SignedDuration::from_secs(1));
    let third = app.sign_in("ada@example.com").await;
    let [newest, second_id, own] = <[String; 3]>::try_from(session_ids(&app, &ada).await).unwrap();
    let ended = app.signed_in(&ada).delete(&format!("{PATH}/{second_id}?user_id=me")).await;
    assert_eq!((ended.status(), ended.json()), (200, json!({ "success": true })));
    assert_eq!(app.signed_in(&second).post(REFRESH, json!({})).await.code(), "ACCESS_TOKEN_EXPIRED");
    assert_eq!(app.server().delete(&format!("{PATH}/{newest}")).await.status(), 200);
    assert_eq!(app.signed_in(&third).post(REFRESH, json!({})).await.code(), "ACCESS_TOKEN_EXPIRED");
    let current = app.signed_in(&ada).delete(&format!("{PATH}/{own}?user_id=me")).await;
    assert_eq!((current.status(), current.code().as_str()), (400, "CANNOT_DELETE_CURRENT_SESSION"));
    assert_eq!(session_ids(&app, &ada).await, [own]);
}

#[tokio::test]
async fn a_user_cannot_end_the_sessions_of_others() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let id = session_ids(&app, &ada).await.remove(0);
    let as_self = app.signed_in(&bob).delete(&format!("{PATH}/{id}?user_id=me")).await;
    let as_other = app.signed_in(&bob).delete(&format!("{PATH}/{id}?user_id={}", ada.user_id)).await;
    let unnamed = app.signed_in(&bob).delete(&format!("{PATH}/{id}")).await;
    assert_eq!([as_self.code(), as_other.code(), unnamed.code()], ["SESSION_NOT_FOUND", "FORBIDDEN", "SCHEMA_ERROR"]);
    let keys = app.another_project().await;
    assert_eq!(app.server_of(&keys).delete(&format!("{PATH}/{id}")).await.code(), "SESSION_NOT_FOUND");
    assert_eq!(app.client().delete(&format!("{PATH}/{id}?user_id=me")).await.code(), "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_eq!(app.signed_in(&ada).post(REFRESH, json!({})).await.status(), 200);
}
