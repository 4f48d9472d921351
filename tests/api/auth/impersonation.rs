//! An impersonation is a session that a server creates to act as a user. An impersonation cannot
//! change credentials or keys, because such changes would outlast it.

use serde_json::{Value, json};
use support::authenticator::{Ceremony, Page, SoftPasskey};
use support::{SignedInUser, TestApp};

use super::oauth_authorize::{self, authorize, parameters_with};
use super::{assert_error, oauth_callback};

const ME: &str = "/api/v1/users/me";
const PASSWORD: &str = "correct horse battery";
const NEW: &str = "a better horse battery";
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";

/// Creates a session for a server to act as the user.
async fn impersonate(app: &TestApp, user: &SignedInUser) -> SignedInUser {
    let created = app.server().post("/api/v1/auth/sessions", json!({ "user_id": user.user_id, "is_impersonation": true })).await;
    assert_eq!(created.status(), 200, "{}", created.text());
    let mut tokens = created.json();
    tokens["user_id"] = json!(user.user_id);
    SignedInUser::of(&user.email, &tokens)
}

fn id_of_first(list: &Value) -> String {
    list["items"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_impersonation_changes_no_credential() {
    let app = TestApp::start().await;
    let config =
        json!({ "passkey_enabled": true, "allow_user_api_keys": true, "allow_team_api_keys": true, "client_user_deletion_enabled": true });
    app.configure(json!({ "config": config })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.add_passkey(&ada, 1).await;
    let own = app.signed_in(&ada);
    let key = json!({ "user_id": "me", "description": "CI", "expires_at_millis": null });
    let key_path = format!("/api/v1/user-api-keys/{}", own.post("/api/v1/user-api-keys", key.clone()).await.json()["id"].as_str().unwrap());
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Ada's", "creator_user_id": ada.user_id })).await.json();
    let team_key = json!({ "team_id": team["id"], "description": "CI", "expires_at_millis": null });
    let passkey = format!("/api/v1/passkeys/me/{}", id_of_first(&own.get("/api/v1/passkeys?user_id=me").await.json()));
    let channel = format!("/api/v1/contact-channels/me/{}", id_of_first(&own.get("/api/v1/contact-channels?user_id=me").await.json()));
    let email = json!({ "user_id": "me", "value": "eve@example.com", "type": "email", "used_for_auth": true });
    let account = "/api/v1/oauth-providers/me/8c4e2b7a-6d1f-4e3c-9a5b-2d8f7c6e1b90";
    let app_id = "5b8e0c6a-3d1f-4e2b-9a7c-6f0d1e2b3c4d";
    let changes = [
        ("POST", "/api/v1/auth/password/set", json!({ "password": NEW })),
        ("POST", "/api/v1/auth/password/update", json!({ "old_password": PASSWORD, "new_password": NEW })),
        ("POST", "/api/v1/auth/passkey/initiate-passkey-registration", json!({})),
        ("DELETE", &passkey, json!({})),
        ("POST", "/api/v1/auth/mfa/authenticators", json!({})),
        ("POST", "/api/v1/auth/mfa/authenticators/verify", json!({ "code": "a".repeat(45), "totp": "000000" })),
        ("DELETE", &format!("/api/v1/auth/mfa/authenticators/{app_id}"), json!({})),
        ("POST", "/api/v1/auth/mfa/recovery-codes", json!({})),
        ("PATCH", ME, json!({ "totp_secret_base64": SECRET })),
        ("PATCH", ME, json!({ "totp_secret_base64": null })),
        ("PATCH", ME, json!({ "primary_email": "eve@example.com" })),
        ("PATCH", ME, json!({ "otp_auth_enabled": false })),
        ("PATCH", ME, json!({ "passkey_auth_enabled": false })),
        ("POST", "/api/v1/contact-channels", email),
        ("PATCH", &channel, json!({ "value": "eve@example.com" })),
        ("DELETE", &channel, json!({})),
        ("PATCH", account, json!({ "allow_sign_in": true })),
        ("DELETE", account, json!({})),
        ("POST", "/api/v1/user-api-keys", key),
        ("PATCH", &key_path, json!({ "expires_at_millis": null })),
        ("POST", &format!("{key_path}/rotate"), json!({})),
        ("POST", "/api/v1/team-api-keys", team_key),
        ("DELETE", ME, json!({})),
    ];
    let support = app.signed_in(&impersonate(&app, &ada).await);
    let table = app.table();
    for (method, path, body) in &changes {
        assert_error(&support.request(method, path).json(body).send().await, 403, "REAUTHENTICATION_REQUIRED");
    }
    assert_eq!(app.table(), table);
    // The impersonation can make all other changes, and can even revoke a key. The user's session
    // can also make the changes that the impersonation cannot make.
    assert_eq!(support.patch(ME, json!({ "display_name": "Ada" })).await.status(), 200);
    assert_eq!(support.patch(&key_path, json!({ "revoked": true })).await.status(), 200);
    assert_eq!(own.patch(ME, json!({ "totp_secret_base64": SECRET })).await.status(), 200);
}

#[tokio::test]
async fn an_impersonation_registers_no_passkey_and_links_no_account() {
    let app = oauth_authorize::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let support = impersonate(&app, &ada).await;
    // The user starts the registration, and the impersonation tries to complete it.
    let Ceremony { options, code } = app.start_registration(&ada).await;
    let credential = SoftPasskey::create(&options, Page::default(), 1).registration(&options);
    let link = parameters_with(&app, &[("type", "link"), ("token", &support.access_token)]);
    let table = app.table();
    assert_error(&app.register(&support, &code, &credential).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_error(&authorize(&app, "github", &link).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(app.table(), table);
    assert_eq!(app.register(&ada, &code, &credential).await.status(), 200);
}

#[tokio::test]
async fn a_sign_up_in_an_impersonation_makes_a_new_user() {
    let (app, provider) = oauth_callback::start().await;
    let anonymous = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let anonymous = SignedInUser::of("", &anonymous);
    let support = impersonate(&app, &anonymous).await;
    let acting = app.signed_in(&support).with("x-stack-allow-anonymous-user", "true");
    let body = json!({ "email": "eve@example.com", "password": PASSWORD });
    let signed_up = acting.post("/api/v1/auth/password/sign-up", body).await;
    assert_eq!(signed_up.status(), 200, "{}", signed_up.text());
    assert_ne!(signed_up.json()["user_id"], anonymous.user_id);
    let code = app.sign_in_code("mallory@example.com").await;
    let signed_up = acting.post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
    assert_eq!(signed_up.json()["is_new_user"], true, "{}", signed_up.text());
    assert_ne!(signed_up.json()["user_id"], anonymous.user_id);
    let token = [("token", support.access_token.as_str())];
    let url = oauth_callback::flow(&app, &provider, oauth_callback::ada(), &token).await;
    let signed_up = oauth_callback::exchange(&app, &oauth_callback::parameter(&url, "code")).await;
    assert_eq!(signed_up.status(), 200, "{}", signed_up.text());
    let tool = json!({ "anon_refresh_token": support.refresh_token });
    let attached = app.client().post("/api/v1/auth/cli", tool).await;
    assert_eq!((attached.status(), attached.code().as_str()), (400, "CLI_SESSION_NOT_ANONYMOUS"), "{}", attached.text());
    let user = app.server().get(&format!("/api/v1/users/{}", anonymous.user_id)).await.json();
    assert_eq!((&user["is_anonymous"], &user["has_password"], &user["oauth_providers"]), (&json!(true), &json!(false), &json!([])));
}
