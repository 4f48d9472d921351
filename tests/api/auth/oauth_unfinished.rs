//! Flows that are going to change an existing user. Nothing changes until the app redeems the code.
//! The person who returns from the provider may not be the person who began the flow (RFC 9700
//! §4.7). The person who returns is not signed in anywhere.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};
use store::provider::authorization::{self, AuthorizationCode};
use support::provider::Provider;
use support::{SignedInUser, TestApp};

use super::assert_error;
use super::oauth_callback::{ada, exchange, flow, parameter, sign_in, start};
use crate::stored::{change_user, user_id};

const ADA: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery";
const PASSWORD_SIGN_IN: &str = "/api/v1/auth/password/sign-in";

async fn user(app: &TestApp, of: &SignedInUser) -> Value {
    app.server().get(&format!("/api/v1/users/{}", of.user_id)).await.json()
}

async fn accounts(app: &TestApp, of: &SignedInUser) -> Vec<Value> {
    user(app, of).await["oauth_providers"].as_array().unwrap().iter().map(|account| account["account_id"].clone()).collect()
}

async fn code(app: &TestApp, provider: &Provider, account: Value) -> String {
    parameter(&flow(app, provider, account, &[]).await, "code")
}

async fn password_status(app: &TestApp) -> u16 {
    app.client().post(PASSWORD_SIGN_IN, json!({ "email": ADA, "password": PASSWORD })).await.status()
}

#[tokio::test]
async fn an_unfinished_flow_hands_over_no_account() {
    let (app, provider) = start().await;
    let owner = app.sign_up(ADA).await;
    let before = user(&app, &owner).await;
    let unused = code(&app, &provider, ada()).await;
    assert_eq!(user(&app, &owner).await, before);
    assert_eq!(app.signed_in(&owner).get("/api/v1/users/me").await.status(), 200);
    assert_eq!(password_status(&app).await, 200);

    // Redeeming the code hands the account over. The handover verifies the address and removes the
    // previous owner's password and sessions.
    let tokens = exchange(&app, &unused).await.json();
    assert_eq!(tokens["is_new_user"], false, "{tokens}");
    let me = app.client().with("x-stack-access-token", tokens["access_token"].as_str().unwrap()).get("/api/v1/users/me").await.json();
    assert_eq!((&me["id"], &me["primary_email_verified"], &me["has_password"]), (&json!(owner.user_id), &json!(true), &json!(false)));
    assert_eq!(accounts(&app, &owner).await, ["acme|1"]);
    assert_error(&app.signed_in(&owner).get("/api/v1/users/me").await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_eq!(password_status(&app).await, 400);
    assert_eq!(sign_in(&app, &provider, ada()).await.0.user_id, owner.user_id);
}

#[tokio::test]
async fn an_unfinished_flow_merges_no_account() {
    let (app, provider) = start().await;
    let owner = app.sign_in_by_mail(ADA).await;
    let before = user(&app, &owner).await;
    let lost = code(&app, &provider, ada()).await;
    app.advance(SignedDuration::from_mins(5));
    assert_error(&exchange(&app, &lost).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert_eq!(user(&app, &owner).await["oauth_providers"], before["oauth_providers"]);
    // Nobody has linked the provider account yet. With another address, the provider account signs
    // up a new user.
    let (other, _) = sign_in(&app, &provider, json!({ "sub": "acme|1", "email": "bob@example.com", "email_verified": true })).await;
    assert_ne!(other.user_id, owner.user_id);
}

/// The person who proves the address first stays the owner, even if a code for a takeover has been
/// issued.
#[tokio::test]
async fn an_account_verified_since_the_callback_is_not_handed_over() {
    let (app, provider) = start().await;
    let owner = app.sign_up(ADA).await;
    let late = code(&app, &provider, ada()).await;
    change_user(&app, &owner, |user| user.channels[0].is_verified = true).await;
    assert_error(&exchange(&app, &late).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert_eq!(password_status(&app).await, 200);
    assert_eq!(app.signed_in(&owner).get("/api/v1/users/me").await.status(), 200);
    assert!(accounts(&app, &owner).await.is_empty());
}

#[tokio::test]
async fn a_change_of_the_credentials_since_the_callback_ends_the_code() {
    for is_verified in [false, true] {
        let (app, provider) = start().await;
        let owner = if is_verified { app.sign_in_by_mail(ADA).await } else { app.sign_up(ADA).await };
        let late = code(&app, &provider, ada()).await;
        let changed = json!({ "password": "another horse battery" });
        assert_eq!(app.server().patch(&format!("/api/v1/users/{}", owner.user_id), changed).await.status(), 200);
        assert_error(&exchange(&app, &late).await, 400, "INVALID_AUTHORIZATION_CODE");
        assert!(accounts(&app, &owner).await.is_empty());
        // A new flow works.
        assert_eq!(sign_in(&app, &provider, ada()).await.0.user_id, owner.user_id);
    }
}

/// The provider account is linked because the user has verified the address, so the address must
/// still be verified.
#[tokio::test]
async fn an_account_is_not_merged_once_the_address_is_gone() {
    let (app, provider) = start().await;
    let owner = app.sign_in_by_mail(ADA).await;
    let late = code(&app, &provider, ada()).await;
    let path = format!("/api/v1/users/{}", owner.user_id);
    assert_eq!(app.server().patch(&path, json!({ "primary_email_verified": false })).await.status(), 200);
    assert_error(&exchange(&app, &late).await, 400, "INVALID_AUTHORIZATION_CODE");
    assert!(accounts(&app, &owner).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_redemptions_one_takes_the_account_over() {
    let (app, provider) = start().await;
    let owner = app.sign_up(ADA).await;
    let taken = code(&app, &provider, ada()).await;
    let answers = join_all((0..10).map(|_| exchange(&app, &taken))).await;
    let statuses: Vec<u16> = answers.iter().map(support::Answer::status).collect();
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 400).count(), 9, "{statuses:?}");
    assert_eq!(accounts(&app, &owner).await, ["acme|1"]);
    let sessions = app.server().get(&format!("/api/v1/auth/sessions?user_id={}", owner.user_id)).await.json();
    assert_eq!(sessions["items"], json!([]), "a code used twice leaves no session");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_flows_merge_one_account_and_all_sign_in() {
    let (app, provider) = start().await;
    let owner = app.sign_in_by_mail(ADA).await;
    let codes = [code(&app, &provider, ada()).await, code(&app, &provider, ada()).await];
    let answers = join_all(codes.iter().map(|code| exchange(&app, code))).await;
    assert!(answers.iter().all(|answer| answer.status() == 200), "{} {}", answers[0].text(), answers[1].text());
    assert_eq!(accounts(&app, &owner).await, ["acme|1"]);
    // If sign-in with the account was disabled after the callback, the code does not enable it.
    let third = json!({ "sub": "acme|2", "email": ADA, "email_verified": true });
    let late = [code(&app, &provider, third.clone()).await, code(&app, &provider, third).await];
    assert_eq!(exchange(&app, &late[0]).await.status(), 200);
    change_user(&app, &owner, |user| user.provider_accounts[1].allow_sign_in = false).await;
    assert_error(&exchange(&app, &late[1]).await, 409, "OAUTH_CONNECTION_ALREADY_CONNECTED_TO_ANOTHER_USER");
}

/// Stores a code as an earlier version did, with this pending change. `null` means no change.
async fn old_code(app: &TestApp, user: &SignedInUser, change: &Value) -> String {
    let row = app.app.store.user(app.project_id(), user_id(user)).await.unwrap().unwrap();
    let code = format!("{}{}", row.user.id.uuid().as_simple(), "0123456789abcdef".repeat(2));
    let mut item = json!({
        "user_id": user.user_id,
        "epoch": row.user.credential_epoch,
        "redirect_uri": super::oauth_callback::REDIRECT_URI,
        "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
        "is_new_user": false,
        "expires_at": (app.now() + SignedDuration::from_mins(5)).as_millisecond(),
    });
    if !change.is_null() {
        item["pending"] = json!({
            "change": change,
            "account": {
                "id": "5f3f0d9e-1c9b-4f0e-9d63-0d6a2b6f0c11", "provider_id": "acme", "account_id": "acme|1", "email": ADA,
                "allow_sign_in": true, "allow_connected_accounts": true,
            },
            "profile": { "account_id": "acme|1", "email": ADA, "email_verified": true },
        });
    }
    let stored: AuthorizationCode = serde_json::from_value(item).unwrap();
    app.app.store.write(authorization::create_code(app.project_id(), &code.clone().into(), &stored).unwrap()).await.unwrap();
    code
}

#[tokio::test]
async fn codes_of_an_earlier_version_are_redeemed() {
    let (app, _provider) = start().await;
    let ada = app.sign_in_by_mail(ADA).await;
    assert_eq!(exchange(&app, &old_code(&app, &ada, &json!("link")).await).await.status(), 200);
    assert_eq!(accounts(&app, &ada).await, ["acme|1"]);

    // The earlier version changed users at the callback, and then created a code without a pending
    // change.
    let (app, _provider) = start().await;
    let ada = app.sign_in_by_mail(ADA).await;
    assert_eq!(exchange(&app, &old_code(&app, &ada, &Value::Null).await).await.status(), 200);

    let (app, _provider) = start().await;
    let anonymous = crate::stored::anonymous_user(&app).await;
    let code = old_code(&app, &anonymous, &json!({ "upgrade": { "email_signs_in": true } })).await;
    assert_eq!(exchange(&app, &code).await.status(), 200);
    assert_eq!(accounts(&app, &anonymous).await, ["acme|1"]);
}
