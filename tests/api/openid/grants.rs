//! The grants of users are listed and ended.

use serde_json::json;
use support::TestApp;

use super::{RelyingParty, claims, signed_in, text};

#[tokio::test]
async fn a_user_lists_and_ends_a_grant() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    let user = text(&claims(&tokens["access_token"])["sub"]);
    let own = app.client().with("x-service-access-token", &browser.access_token_of().await);
    let grants = own.get("/api/v1/users/me/grants").await.json();
    let now = app.now().as_millisecond();
    let expected = json!([{
        "id": grants["items"][0]["id"], "user_id": user, "client_id": rp.id, "client_name": "Notes",
        "scopes": ["openid", "email", "offline_access"], "resources": [], "created_at_millis": now, "updated_at_millis": now,
    }]);
    assert_eq!(grants["items"], expected);
    assert_eq!(app.server().get(&format!("/api/v1/users/{user}/grants")).await.json()["items"], expected);
    let listed = async || own.get("/api/v1/auth/sessions").await.json()["items"].as_array().unwrap().len();
    assert_eq!(listed().await, 2);
    let path = format!("/api/v1/users/me/grants/{}", text(&grants["items"][0]["id"]));
    assert_eq!(own.delete(&path).await.status(), 200);
    let again = own.delete(&path).await;
    assert_eq!((again.status(), again.code().as_str()), (404, "GRANT_NOT_FOUND"));
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401);
    assert_eq!(listed().await, 1, "its sessions are no longer listed");
    // A new grant does not restore the sessions of the old grant.
    let renewed = rp.tokens(&browser).await;
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
    assert_eq!(rp.refresh(&text(&renewed["refresh_token"])).await.status(), 200);
}

#[tokio::test]
async fn a_grant_belongs_to_its_user() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let (ada, bob) = (signed_in(&app, "ada@example.com").await, signed_in(&app, "bob@example.com").await);
    let tokens = rp.tokens(&ada).await;
    let user = text(&claims(&tokens["access_token"])["sub"]);
    let other = app.client().with("x-service-access-token", &bob.access_token_of().await);
    assert_eq!(other.get(&format!("/api/v1/users/{user}/grants")).await.status(), 403);
    assert_eq!(other.get("/api/v1/users/me/grants").await.json()["items"], json!([]));
    let grant = text(&app.server().get(&format!("/api/v1/users/{user}/grants")).await.json()["items"][0]["id"]);
    assert_eq!(other.delete(&format!("/api/v1/users/{user}/grants/{grant}")).await.status(), 403);
    assert_eq!(other.delete(&format!("/api/v1/users/me/grants/{grant}")).await.status(), 404);
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.status(), 200);
    assert_eq!(app.server().delete(&format!("/api/v1/users/{user}/grants/{grant}")).await.status(), 200, "by the project's server");
}

#[tokio::test]
async fn a_grant_is_deleted_with_its_user() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let user = text(&claims(&rp.tokens(&browser).await["access_token"])["sub"]);
    let grants = || format!("{:?}", app.table()).matches("GRANT#").count();
    assert!(grants() > 0);
    assert_eq!(app.server().delete(&format!("/api/v1/users/{user}")).await.status(), 200);
    assert_eq!(grants(), 0);
}
