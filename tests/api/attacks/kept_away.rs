//! Someone creates an account with another person's address. The creator cannot prevent this person
//! from proving the address, whether by invalidating each code before it is used or by disabling
//! the method of proof.

use jiff::SignedDuration;
use model::limit::Limits;
use serde_json::json;
use support::{Answer, SignedInUser, TestApp};

use super::{CHANNELS, NEW, PASSWORD, change, otp_sign_in, reset, reset_code, user};
use crate::auth::{assert_error, oauth_callback};

const ADA: &str = "ada@example.com";
const ME: &str = "/api/v1/users/me";
const SESSIONS: &str = "/api/v1/auth/sessions?user_id=me";

/// The number of times per hour that the creator may invalidate codes.
const OFTEN_ENOUGH: usize = 5;

/// Invalidates every code of the account, in one of the ways that are open to a user.
async fn end_codes(app: &TestApp, eve: &SignedInUser, turn: usize) -> Answer {
    let own = app.signed_in(eve);
    let passwords = [PASSWORD, "the attacker's battery"];
    match turn % 2 {
        0 => own.delete(SESSIONS).await,
        _ => {
            let body = json!({ "old_password": passwords[turn / 2 % 2], "new_password": passwords[(turn / 2 + 1) % 2] });
            own.post("/api/v1/auth/password/update", body).await
        }
    }
}

#[tokio::test]
async fn an_attacker_cannot_invalidate_every_code_of_an_address() {
    let app = TestApp::start_with(Limits::standard()).await;
    let eve = app.sign_up(ADA).await;
    for turn in 0..OFTEN_ENOUGH {
        let ended = end_codes(&app, &eve, turn).await;
        assert_eq!(ended.status(), 200, "{turn}: {}", ended.text());
    }
    let code = reset_code(&app, ADA).await;
    for turn in OFTEN_ENOUGH..OFTEN_ENOUGH + 2 {
        let refused = end_codes(&app, &eve, turn).await;
        let details = assert_error(&refused, 429, "RATE_LIMITED");
        assert_eq!(details["limit"], "write");
    }
    // Changes that do not invalidate a code are still possible.
    assert_eq!(app.signed_in(&eve).patch(ME, json!({ "display_name": "Eve" })).await.status(), 200);
    assert_eq!(reset(&app, &code).await.status(), 200);
    assert_error(&app.signed_in(&eve).get(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
    // Once the owner has proved the address, the owner may invalidate codes without limit.
    let ada = SignedInUser::of(ADA, &super::password_sign_in(&app, ADA, NEW).await.json());
    for _ in 0..2 * OFTEN_ENOUGH {
        assert_eq!(app.signed_in(&ada).delete(SESSIONS).await.status(), 200);
    }
}

#[tokio::test]
async fn users_can_invalidate_codes_a_few_times_an_hour_and_servers_at_any_time() {
    let app = TestApp::start_with(Limits::standard()).await;
    let ada = app.sign_up(ADA).await;
    for _ in 0..OFTEN_ENOUGH {
        assert_eq!(app.signed_in(&ada).delete(SESSIONS).await.status(), 200);
    }
    let refused = app.signed_in(&ada).delete(SESSIONS).await;
    let seconds = assert_error(&refused, 429, "RATE_LIMITED")["retry_after_seconds"].as_i64().unwrap();
    assert!((1..=3600).contains(&seconds), "{seconds}");
    for _ in 0..2 * OFTEN_ENOUGH {
        change(&app, &ada.user_id, json!({ "password": NEW })).await;
    }
    app.advance(SignedDuration::from_secs(seconds));
    let ada = SignedInUser::of(ADA, &super::password_sign_in(&app, ADA, NEW).await.json());
    assert_eq!(app.signed_in(&ada).delete(SESSIONS).await.status(), 200);
}

/// Recreating an account counts as invalidating its codes, so attackers cannot repeat it
/// indefinitely.
#[tokio::test]
async fn recreating_an_account_invalidates_no_codes_of_others() {
    let app = TestApp::start_with(Limits::standard()).await;
    app.configure(json!({ "config": { "client_user_deletion_enabled": true } })).await;
    for _ in 0..OFTEN_ENOUGH {
        let eve = app.sign_up(ADA).await;
        assert_eq!(app.signed_in(&eve).delete(ME).await.status(), 200);
    }
    let eve = app.sign_up(ADA).await;
    let code = app.sign_in_code(ADA).await;
    assert_error(&app.signed_in(&eve).delete(ME).await, 429, "RATE_LIMITED");
    assert_error(&app.signed_in(&eve).delete(SESSIONS).await, 429, "RATE_LIMITED");
    assert_eq!(otp_sign_in(&app, &code).await.json()["user_id"], eve.user_id.as_str());
    assert_error(&app.signed_in(&eve).get(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
}

/// If passwords are disabled, a sign-in code is the only proof by email.
#[tokio::test]
async fn disabling_sign_in_codes_does_not_block_an_address() {
    let (app, provider) = oauth_callback::start().await;
    let account = json!({ "sub": "acme|666", "email": ADA, "email_verified": false });
    let (eve, _) = oauth_callback::sign_in(&app, &provider, account).await;
    app.configure(json!({ "config": { "credential_enabled": false } })).await;
    assert_eq!(app.signed_in(&eve).patch(ME, json!({ "otp_auth_enabled": false })).await.status(), 200);
    let code = app.sign_in_code(ADA).await;
    // Sign-in codes stay disabled for the user who disabled them.
    let own = app.signed_in(&eve).post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
    assert_error(&own, 403, "MAGIC_LINK_NOT_ENABLED");
    assert_eq!(user(&app, &eve.user_id).await["otp_auth_enabled"], false);

    assert_eq!(otp_sign_in(&app, &code).await.json()["user_id"], eve.user_id.as_str());
    assert_error(&app.signed_in(&eve).get(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_eq!(user(&app, &eve.user_id).await["otp_auth_enabled"], true);
    app.send_emails().await;
    app.advance(SignedDuration::from_secs(1));
    // If a server has disabled sign-in codes, they stay disabled.
    let ada = app.sign_in_by_mail(ADA).await;
    super::change(&app, &ada.user_id, json!({ "otp_auth_enabled": false })).await;
    let send = json!({ "email": ADA, "callback_url": super::CALLBACK });
    assert_error(&app.client().post("/api/v1/auth/otp/send-sign-in-code", send).await, 403, "MAGIC_LINK_NOT_ENABLED");
}

/// If passwords are enabled, a reset can be the first proof of the address. The reset then enables
/// sign-in by code again.
#[tokio::test]
async fn a_reset_proves_an_address_with_disabled_sign_in_codes() {
    let app = TestApp::start().await;
    let eve = app.sign_up(ADA).await;
    assert_eq!(app.signed_in(&eve).patch(ME, json!({ "otp_auth_enabled": false })).await.status(), 200);
    let send = json!({ "email": ADA, "callback_url": super::CALLBACK });
    assert_error(&app.client().post("/api/v1/auth/otp/send-sign-in-code", send).await, 403, "MAGIC_LINK_NOT_ENABLED");
    assert_eq!(reset(&app, &reset_code(&app, ADA).await).await.status(), 200);
    // The order of emails with the same time is not defined.
    app.send_emails().await;
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(app.sign_in_by_mail(ADA).await.user_id, eve.user_id);
}

/// The account gives up the address after a code was sent and before the code is used.
#[tokio::test]
async fn a_code_for_an_existing_account_creates_no_other_account() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail(ADA).await;
    let code = app.sign_in_code(ADA).await;
    let list = app.signed_in(&ada).get(&format!("{CHANNELS}?user_id=me")).await.json();
    let path = format!("{CHANNELS}/me/{}", list["items"][0]["id"].as_str().unwrap());
    assert_eq!(app.signed_in(&ada).delete(&path).await.status(), 200);
    assert_error(&otp_sign_in(&app, &code).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    let check = app.client().post("/api/v1/auth/otp/sign-in/check-code", json!({ "code": code })).await;
    assert_eq!((check.status(), &check.json()["is_code_valid"]), (200, &json!(false)));
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"].as_array().unwrap().len(), 1);
    // The person who reads the emails to the address requests another code and signs up with it.
    assert_ne!(app.sign_in_by_mail(ADA).await.user_id, ada.user_id);
}
