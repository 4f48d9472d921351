//! `DELETE /api/v1/auth/sessions`, which ends a user's other sessions, or all sessions.

use serde_json::json;
use support::{SignedInUser, TestApp};

use super::{assert_error, opens_own_data};

const PATH: &str = "/api/v1/auth/sessions";

async fn refreshes(app: &TestApp, user: &SignedInUser) -> bool {
    let caller = app.client().with("x-stack-refresh-token", &user.refresh_token);
    caller.post(&format!("{PATH}/current/refresh"), json!({})).await.status() == 200
}

#[tokio::test]
async fn all_other_sessions_end() {
    for query in ["", "?user_id=me", "?user_id=me&include_current=false"] {
        let app = TestApp::start().await;
        let (phone, laptop) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
        let bob = app.sign_up("bob@example.com").await;
        let ended = app.signed_in(&laptop).delete(&format!("{PATH}{query}")).await;
        assert_eq!((ended.status(), ended.json()), (200, json!({ "success": true })));
        assert!(opens_own_data(&app, &laptop).await && refreshes(&app, &laptop).await, "{query}");
        assert!(!opens_own_data(&app, &phone).await && !refreshes(&app, &phone).await, "{query}");
        assert!(opens_own_data(&app, &bob).await);
        let again = app.sign_in("ada@example.com").await;
        assert!(opens_own_data(&app, &again).await);
    }
}

#[tokio::test]
async fn the_current_session_ends_on_request() {
    let app = TestApp::start().await;
    let (phone, laptop) = (app.sign_up("ada@example.com").await, app.sign_in("ada@example.com").await);
    assert_eq!(app.signed_in(&laptop).delete(&format!("{PATH}?user_id=me&include_current=true")).await.status(), 200);
    for session in [phone, laptop] {
        assert!(!opens_own_data(&app, &session).await && !refreshes(&app, &session).await);
    }
}

#[tokio::test]
async fn codes_are_invalidated_with_the_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let code = app.sign_in_code("ada@example.com").await;
    assert_eq!(app.signed_in(&ada).delete(PATH).await.status(), 200);
    let redeemed = app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
    assert_error(&redeemed, 404, "VERIFICATION_CODE_NOT_FOUND");
}

#[tokio::test]
async fn servers_end_any_user_s_sessions_and_clients_only_their_own() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let of = |user: &str| format!("{PATH}?user_id={user}");
    assert_error(&app.signed_in(&ada).delete(&of(&bob.user_id)).await, 403, "FORBIDDEN");
    assert_error(&app.client().delete(PATH).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
    assert_error(&app.server().delete(PATH).await, 400, "SCHEMA_ERROR");
    assert_error(&app.server().delete(&of("00000000-0000-0000-0000-000000000000")).await, 400, "USER_ID_DOES_NOT_EXIST");
    assert_error(&app.signed_in(&ada).delete(&format!("{PATH}?include_current=perhaps")).await, 400, "SCHEMA_ERROR");
    assert!(opens_own_data(&app, &bob).await);
    assert_eq!(app.server().delete(&of(&bob.user_id)).await.status(), 200);
    assert!(!opens_own_data(&app, &bob).await && opens_own_data(&app, &ada).await);
}
