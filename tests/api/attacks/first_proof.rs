//! An attacker creates an account with another person's address, and prepares ways to keep access.
//! The owner of the address then proves the address.

use serde_json::{Value, json};
use support::provider::Provider;
use support::{Answer, SignedInUser, TestApp};

use super::{CHANNELS, NEW, PASSWORD, added, addresses, otp_sign_in, password_sign_in, reset, reset_code, user, verification_code, verify};
use crate::auth::assert_error;
use crate::auth::oauth_callback::{self, exchange, flow, parameter};

const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";
const PROOFS: [&str; 3] = ["reset", "sign-in code", "provider"];

/// An account that an attacker has prepared.
struct PreparedAccount {
    app: TestApp,
    provider: Provider,
    /// The attacker's session of the account of `ada@example.com`.
    eve: SignedInUser,
    /// An unused code for the account.
    attempt: String,
    sign_in: String,
    reset: String,
    authorization: String,
}

fn eves() -> Value {
    json!({ "sub": "acme|666", "email": "eve@provider.example", "email_verified": false })
}

async fn prepare() -> PreparedAccount {
    let (app, provider) = oauth_callback::start().await;
    let eve = app.sign_up("ada@example.com").await;
    let channel = added(&app, &eve, "eve@example.com").await;
    let code = verification_code(&app, &eve, &channel, "eve@example.com").await;
    assert_eq!(verify(&app, &code).await.status(), 200);
    // The attacker links a provider account whose address is not verified.
    let link = [("type", "link"), ("token", eve.access_token.as_str())];
    let linked = exchange(&app, &parameter(&flow(&app, &provider, eves(), &link).await, "code")).await;
    assert_eq!(linked.status(), 200, "{}", linked.text());
    let authorization = parameter(&flow(&app, &provider, eves(), &[]).await, "code");
    let set = app.signed_in(&eve).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await;
    assert_eq!(set.status(), 200);
    let details = assert_error(&password_sign_in(&app, "ada@example.com", PASSWORD).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
    let attempt = details["attempt_code"].as_str().unwrap().to_owned();
    let (sign_in, reset) = (app.sign_in_code("eve@example.com").await, reset_code(&app, "eve@example.com").await);
    PreparedAccount { app, provider, eve, attempt, sign_in, reset, authorization }
}

/// The owner proves the address. Returns the owner's session, if the proof starts one.
async fn prove(app: &TestApp, provider: &Provider, proof: &str) -> Option<SignedInUser> {
    let signed_in = |answer: &Answer| {
        assert_eq!(answer.status(), 200, "{proof}: {}", answer.text());
        SignedInUser::of("ada@example.com", &answer.json())
    };
    match proof {
        "reset" => {
            assert_eq!(reset(app, &reset_code(app, "ada@example.com").await).await.status(), 200);
            None
        }
        "sign-in code" => Some(signed_in(&otp_sign_in(app, &app.sign_in_code("ada@example.com").await).await)),
        _ => Some(oauth_callback::sign_in(app, provider, oauth_callback::ada()).await.0),
    }
}

#[tokio::test]
async fn proving_an_address_removes_everything_prepared_by_others() {
    for proof in PROOFS {
        let PreparedAccount { app, provider, eve, .. } = prepare().await;
        let ada = prove(&app, &provider, proof).await;
        if let Some(ada) = &ada {
            assert_eq!(ada.user_id, eve.user_id, "{proof}");
            assert_eq!(app.signed_in(ada).get("/api/v1/users/me").await.status(), 200, "{proof}");
        }
        assert_eq!(addresses(&app, &eve.user_id).await, [("ada@example.com".to_owned(), true)], "{proof}");
        let account = user(&app, &eve.user_id).await;
        assert_eq!(account["has_password"], proof == "reset", "{proof}");
        let accounts: Vec<&Value> = account["oauth_providers"].as_array().unwrap().iter().map(|account| &account["account_id"]).collect();
        assert_eq!(accounts, if ada.is_some() && proof != "sign-in code" { vec!["acme|1"] } else { vec![] }, "{proof}");
        let told = app.last_mail("ada@example.com").await;
        assert_eq!(told.0.text.lines().next(), Some("This account is now yours"), "{proof}: {}", told.0.text);
        // The owner can set a new password.
        assert_eq!(reset(&app, &reset_code(&app, "ada@example.com").await).await.status(), 200, "{proof}");
        assert_eq!(password_sign_in(&app, "ada@example.com", NEW).await.status(), 200, "{proof}: the intruder's second factor is gone");
    }
}

#[tokio::test]
async fn the_owner_does_not_start_in_a_team_with_the_intruder_s_people() {
    for (has_teams, proof) in [true, false].into_iter().flat_map(|has_teams| PROOFS.map(|proof| (has_teams, proof))) {
        let (app, provider) = oauth_callback::start().await;
        app.configure(json!({ "config": { "create_team_on_sign_up": has_teams, "client_team_creation_enabled": true } })).await;
        let eve = app.sign_up("ada@example.com").await;
        let team = app.signed_in(&eve).post("/api/v1/teams", json!({ "display_name": "T", "creator_user_id": "me" })).await.json();
        let selected = app.signed_in(&eve).patch("/api/v1/users/me", json!({ "selected_team_id": team["id"] })).await;
        assert_eq!(selected.status(), 200, "{}", selected.text());
        prove(&app, &provider, proof).await;
        let account = user(&app, &eve.user_id).await;
        let selected = &account["selected_team_id"];
        assert_ne!(*selected, team["id"], "{proof}");
        assert_eq!(selected.is_string(), has_teams, "{proof}");
        if let Some(own) = selected.as_str() {
            let members = app.server().get(&format!("/api/v1/team-member-profiles?team_id={own}")).await.json();
            let members: Vec<&Value> = members["items"].as_array().unwrap().iter().map(|member| &member["user_id"]).collect();
            assert_eq!(members, [&json!(eve.user_id)], "{proof}");
        }
    }
}

#[tokio::test]
async fn no_prepared_credential_works_after_the_proof() {
    for proof in PROOFS {
        let PreparedAccount { app, provider, eve, attempt, sign_in, reset: reset_by, authorization } = prepare().await;
        prove(&app, &provider, proof).await;
        // The attacker's session has ended.
        assert_error(&app.signed_in(&eve).get("/api/v1/users/me").await, 401, "ACCESS_TOKEN_EXPIRED");
        let refresh = app.signed_in(&eve).without("x-stack-access-token").post("/api/v1/auth/sessions/current/refresh", json!({})).await;
        assert_error(&refresh, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
        // The attacker's pending flows and codes are invalid.
        let totp = support::authenticator_code(b"12345678901234567890", app.now().as_second());
        let body = json!({ "code": attempt, "type": "totp", "totp": totp });
        assert_error(&app.client().post("/api/v1/auth/mfa/sign-in", body).await, 404, "VERIFICATION_CODE_NOT_FOUND");
        assert_error(&exchange(&app, &authorization).await, 400, "INVALID_AUTHORIZATION_CODE");
        assert_error(&reset(&app, &reset_by).await, 404, "VERIFICATION_CODE_NOT_FOUND");
        // The attacker's password, second address and provider account have been removed.
        assert_error(&password_sign_in(&app, "ada@example.com", PASSWORD).await, 400, "EMAIL_PASSWORD_MISMATCH");
        assert_error(&password_sign_in(&app, "eve@example.com", PASSWORD).await, 400, "EMAIL_PASSWORD_MISMATCH");
        let elsewhere = otp_sign_in(&app, &sign_in).await;
        assert!(elsewhere.status() != 200 || elsewhere.json()["user_id"] != eve.user_id.as_str(), "{proof}");
        assert_ne!(app.sign_in_by_mail("eve@example.com").await.user_id, eve.user_id, "{proof}");
        let (by_provider, _) = oauth_callback::sign_in(&app, &provider, eves()).await;
        assert_ne!(by_provider.user_id, eve.user_id, "{proof}");
    }
}

#[tokio::test]
async fn an_unfinished_provider_link_does_not_take_the_account() {
    for proof in PROOFS {
        let PreparedAccount { app, provider, eve, .. } = prepare().await;
        let other = || json!({ "sub": "acme|777", "email": "eve@third.example", "email_verified": true });
        let link = [("type", "link"), ("token", eve.access_token.as_str())];
        let code = parameter(&flow(&app, &provider, other(), &link).await, "code");
        let location = oauth_callback::begin(&app, &link).await;
        prove(&app, &provider, proof).await;
        assert_error(&exchange(&app, &code).await, 400, "INVALID_AUTHORIZATION_CODE");
        let (code, state) = provider.allow(&app, &location, other());
        let url = oauth_callback::landed(&oauth_callback::come_back(&app, &code, &state).await);
        assert_eq!(oauth_callback::error_of(&url), "CANNOT_GET_OWN_USER_WITHOUT_USER", "{proof}");
    }
}

#[tokio::test]
async fn a_creator_who_proves_the_address_loses_nothing() {
    for proof in ["reset", "sign-in code"] {
        let app = TestApp::start().await;
        let ada = app.sign_up("ada@example.com").await;
        let channel = added(&app, &ada, "work@example.com").await;
        let code = verification_code(&app, &ada, &channel, "work@example.com").await;
        assert_eq!(verify(&app, &code).await.status(), 200);
        let own = app.signed_in(&ada);
        let answer = if proof == "reset" {
            let code = reset_code(&app, "ada@example.com").await;
            own.post("/api/v1/auth/password/reset", json!({ "code": code, "password": PASSWORD })).await
        } else {
            own.post("/api/v1/auth/otp/sign-in", json!({ "code": app.sign_in_code("ada@example.com").await })).await
        };
        assert_eq!(answer.status(), 200, "{proof}: {}", answer.text());
        let both = [("ada@example.com".to_owned(), true), ("work@example.com".to_owned(), true)];
        assert_eq!(addresses(&app, &ada.user_id).await, both, "{proof}");
        assert_eq!(app.sign_in("ada@example.com").await.user_id, ada.user_id, "{proof}");
        // A session of another account does not belong to the creator, so the password is removed.
        let bob = app.sign_up("bob@example.com").await;
        let ada = app.sign_in("ada@example.com").await;
        let code = app.sign_in_code("bob@example.com").await;
        assert_eq!(app.signed_in(&ada).post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await.status(), 200);
        assert_eq!(user(&app, &bob.user_id).await["has_password"], false);
    }
}

#[tokio::test]
async fn an_ended_session_does_not_count_as_the_creator() {
    let app = TestApp::start().await;
    let eve = app.sign_up("ada@example.com").await;
    let code = app.sign_in_code("ada@example.com").await;
    assert_eq!(app.signed_in(&eve).delete("/api/v1/auth/sessions/current").await.status(), 200);
    let answer = app.signed_in(&eve).post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
    assert_error(&answer, 401, "ACCESS_TOKEN_EXPIRED");
    assert_eq!(otp_sign_in(&app, &code).await.status(), 200);
    assert_eq!(user(&app, &eve.user_id).await["has_password"], false);
}

#[tokio::test]
async fn a_verification_code_only_verifies_the_address() {
    let app = TestApp::start().await;
    let eve = app.sign_up("ada@example.com").await;
    let list = app.signed_in(&eve).get(&format!("{CHANNELS}?user_id=me")).await.json();
    let code = verification_code(&app, &eve, list["items"][0]["id"].as_str().unwrap(), "ada@example.com").await;
    assert_eq!(verify(&app, &code).await.status(), 200);
    assert_eq!(app.sign_in("ada@example.com").await.user_id, eve.user_id);
    assert_eq!(app.signed_in(&eve).get("/api/v1/users/me").await.json()["primary_email_verified"], true);
}

#[tokio::test]
async fn a_provider_that_does_not_vouch_for_the_address_proves_nothing() {
    let (app, provider) = oauth_callback::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let account = json!({ "sub": "acme|666", "email": "ada@example.com", "email_verified": false });
    let url = flow(&app, &provider, account, &[]).await;
    assert_eq!(oauth_callback::error_of(&url), "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    assert_eq!(app.sign_in("ada@example.com").await.user_id, ada.user_id);
}
