//! Anonymous users, and how they become ordinary users.

use serde_json::{Value, json};
use support::authenticator::{Page, SoftPasskey};
use support::{SignedInUser, TestApp};

use super::assert_error;

const PATH: &str = "/api/v1/auth/anonymous/sign-up";

async fn anonymous(app: &TestApp) -> SignedInUser {
    let answer = app.client().request("POST", PATH).send().await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    SignedInUser::of("", &answer.json())
}

#[tokio::test]
async fn an_anonymous_user_is_admitted_only_if_the_request_allows_it() {
    let app = TestApp::start().await;
    let nobody = anonymous(&app).await;
    let refused = app.signed_in(&nobody).get("/api/v1/users/me").await;
    assert_eq!((refused.status(), refused.code().as_str()), (401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED"));
    let me = app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true").get("/api/v1/users/me").await.json();
    assert_eq!((&me["id"], &me["is_anonymous"]), (&json!(nobody.user_id), &json!(true)));
    assert_eq!(me["restricted_reason"], json!({ "type": "anonymous" }));
}

#[tokio::test]
async fn nobody_becomes_an_anonymous_user_where_sign_up_is_closed() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "sign_up_enabled": false } })).await;
    let before = app.table();
    for caller in [app.client(), app.server(), app.admin()] {
        assert_error(&caller.request("POST", PATH).send().await, 400, "SIGN_UP_NOT_ENABLED");
    }
    assert_eq!(app.table(), before, "nothing is left of a refused sign-up");
    // Servers can create anonymous users regardless of what clients may do.
    assert_eq!(app.server().post("/api/v1/users", json!({ "is_anonymous": true })).await.status(), 201);
    app.configure(json!({ "config": { "sign_up_enabled": true } })).await;
    anonymous(&app).await;
}

/// The id of the project `internal` is fixed, and the project does not require a key, so strangers
/// can reach the project without knowing a secret.
#[tokio::test]
async fn nobody_becomes_an_anonymous_user_of_the_project_internal() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    for caller in [app.client_of(&internal), app.server_of(&internal), app.admin_of(&internal)] {
        assert_error(&caller.request("POST", PATH).send().await, 400, "SIGN_UP_NOT_ENABLED");
    }
    let keyless = app.client_of(&internal).without("x-stack-publishable-client-key");
    assert_error(&keyless.request("POST", PATH).send().await, 400, "SIGN_UP_NOT_ENABLED");
    assert_eq!(app.server_of(&internal).get("/api/v1/users?include_anonymous=true").await.json()["items"], json!([]));
    // In this test, sign-up is enabled in the project. Only sign-up without an identity is refused.
    let account = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    assert_eq!(app.client_of(&internal).post("/api/v1/auth/password/sign-up", account).await.status(), 200);
}

#[tokio::test]
async fn a_sign_up_upgrades_an_anonymous_user_in_place() {
    let app = TestApp::start().await;
    let nobody = anonymous(&app).await;
    let client = app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
    let answer =
        client.post("/api/v1/auth/password/sign-up", json!({ "email": "ada@example.com", "password": "correct horse battery" })).await;
    let ada = SignedInUser::of("ada@example.com", &answer.json());
    assert_eq!(ada.user_id, nobody.user_id);
    let me = app.signed_in(&ada).get("/api/v1/users/me").await.json();
    assert_eq!((&me["is_anonymous"], &me["primary_email"]), (&json!(false), &json!("ada@example.com")));
    assert_has_ended(&app, &nobody).await;
}

#[tokio::test]
async fn a_sign_up_leaves_no_credential_of_the_anonymous_user() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    app.configure(json!({ "config": { "anonymous_creation_enabled": true } })).await;
    for (number, method) in ["password", "code"].into_iter().enumerate() {
        let nobody = anonymous(&app).await;
        let client = || app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
        let (eve, ada) = (format!("eve{number}@example.com"), format!("ada{number}@example.com"));
        for address in [&eve, &ada] {
            let channel = json!({ "user_id": "me", "value": address, "type": "email", "used_for_auth": true });
            assert_eq!(client().post("/api/v1/contact-channels", channel).await.status(), 201);
        }
        let set = client().post("/api/v1/auth/password/set", json!({ "password": "a stranger's battery" })).await;
        assert_eq!(set.status(), 200, "{}", set.text());
        let started = client().post("/api/v1/auth/passkey/initiate-passkey-registration", json!({})).await.json();
        let passkey = SoftPasskey::create(&started["options_json"], Page::default(), 1);
        let body = json!({ "code": started["code"], "credential": passkey.registration(&started["options_json"]) });
        assert_eq!(client().post("/api/v1/auth/passkey/register", body).await.status(), 200);

        let answer = if method == "password" {
            client().post("/api/v1/auth/password/sign-up", json!({ "email": ada, "password": "correct horse battery" })).await
        } else {
            let code = app.sign_in_code(&ada).await;
            client().post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await
        };
        assert_eq!(answer.status(), 200, "{method}: {}", answer.text());
        assert_eq!(answer.json()["user_id"], json!(nobody.user_id), "{method}");
        assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
        let guess = json!({ "email": ada, "password": "a stranger's battery" });
        assert_error(&app.client().post("/api/v1/auth/password/sign-in", guess).await, 400, "EMAIL_PASSWORD_MISMATCH");
        let channels = app.server().get(&format!("/api/v1/contact-channels?user_id={}", nobody.user_id)).await.json();
        let values: Vec<&Value> = channels["items"].as_array().unwrap().iter().map(|channel| &channel["value"]).collect();
        assert_eq!(values, [&json!(ada)], "{method}");
        // The claims are released.
        assert_ne!(app.sign_up(&eve).await.user_id, nobody.user_id, "{method}");
        assert!(!app.table().keys().any(|(pk, _)| pk.starts_with("K#")), "{method}");
    }
}

/// Someone who shared the anonymous user's session is not signed in to the account.
async fn assert_has_ended(app: &TestApp, old: &SignedInUser) {
    let caller = || app.signed_in(old).with("x-stack-allow-anonymous-user", "true");
    assert_eq!(caller().get("/api/v1/users/me").await.status(), 401);
    let refreshed = caller().without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!((refreshed.status(), refreshed.code().as_str()), (401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED"));
}

#[tokio::test]
async fn a_sign_in_by_email_upgrades_an_anonymous_user_in_place() {
    let app = TestApp::start().await;
    let nobody = anonymous(&app).await;
    let code = app.sign_in_code("ada@example.com").await;
    let client = app.signed_in(&nobody).with("x-stack-allow-anonymous-user", "true");
    let answer = client.post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await.json();
    assert_eq!((&answer["user_id"], &answer["is_new_user"]), (&json!(nobody.user_id), &json!(true)));
    let ada = SignedInUser::of("ada@example.com", &answer);
    assert_eq!(app.signed_in(&ada).get("/api/v1/users/me").await.status(), 200);
    assert_has_ended(&app, &nobody).await;
}
