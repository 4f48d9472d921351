//! An intruder takes over an account with a stolen session, and the owner is notified of the
//! changes.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{SignedInUser, TestApp};

use super::{CHANNELS, NEW, added, addresses, change, password_sign_in, reset, reset_code, user, verification_code, verify};
use crate::auth::account_notices::{link, notices, owned, press, verified, with_pages};
use crate::auth::assert_error;
use crate::auth::oauth_callback::{self, exchange, flow, parameter};

const ADA: &str = "ada@example.com";
const EVE: &str = "eve@example.com";
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";

pub(super) async fn channel_id(app: &TestApp, user: &str, address: &str) -> String {
    let list = app.server().get(&format!("{CHANNELS}?user_id={user}")).await.json();
    let channel = list["items"].as_array().unwrap().iter().find(|item| item["value"] == address).unwrap().clone();
    channel["id"].as_str().unwrap().to_owned()
}

/// Adds and verifies the intruder's address.
pub(super) async fn joined(app: &TestApp, session: &SignedInUser, address: &str) {
    let channel = added(app, session, address).await;
    let code = verification_code(app, session, &channel, address).await;
    assert_eq!(verify(app, &code).await.status(), 200);
    app.send_emails_until_next_second().await;
}

pub(super) async fn removed(app: &TestApp, session: &SignedInUser, address: &str) {
    let id = channel_id(app, &session.user_id, address).await;
    assert_eq!(app.signed_in(session).delete(&format!("{CHANNELS}/me/{id}")).await.status(), 200);
    app.send_emails_until_next_second().await;
}

/// The owner's account, after an intruder with a stolen session has added a verified address.
pub(super) async fn intruded(app: &TestApp) -> SignedInUser {
    let ada = owned(app).await;
    joined(app, &ada, EVE).await;
    ada
}

/// The account of [`intruded`], after the intruder has removed the owner's address.
pub(super) async fn taken_over(app: &TestApp) -> SignedInUser {
    let ada = intruded(app).await;
    removed(app, &ada, ADA).await;
    ada
}

/// Asserts that the account belongs only to the owner, who can sign in only after a reset by email.
async fn assert_owned(app: &TestApp, id: &str) {
    assert_eq!(addresses(app, id).await, [(ADA.to_owned(), true)]);
    let account = user(app, id).await;
    let state = ["has_password", "requires_totp_mfa", "primary_email", "oauth_providers"].map(|field| account[field].clone());
    assert_eq!(state, [json!(false), json!(false), json!(ADA), json!([])]);
    assert_eq!(reset(app, &app.last_mail(ADA).await.code()).await.status(), 200);
    assert_eq!(password_sign_in(app, ADA, NEW).await.status(), 200);
}

#[tokio::test]
async fn the_first_notice_undoes_a_complete_takeover() {
    let (app, provider) = oauth_callback::start().await;
    let ada = intruded(&app).await;
    let own = app.signed_in(&ada);
    let account = json!({ "sub": "acme|666", "email": EVE, "email_verified": false });
    let token = [("type", "link"), ("token", ada.access_token.as_str())];
    let linked = exchange(&app, &parameter(&flow(&app, &provider, account.clone(), &token).await, "code")).await;
    assert_eq!(linked.status(), 200, "{}", linked.text());
    assert_eq!(own.patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    assert_eq!(own.patch("/api/v1/users/me", json!({ "primary_email": EVE })).await.status(), 200);
    removed(&app, &ada, ADA).await;
    // Resets the password with a code to the intruder's address. The links in the owner's notices
    // stay valid.
    let code = reset_code(&app, EVE).await;
    assert_eq!(reset(&app, &code).await.status(), 200);
    let prepared = reset_code(&app, EVE).await;

    let told = notices(&app, ADA).await;
    assert_eq!(told.len(), 5, "one notice of each change: address, account, app, primary, removal");
    assert!(press(&app, &link(&told[0])).await.text().contains("The changes are undone"));
    assert_owned(&app, &ada.user_id).await;
    assert_error(&reset(&app, &prepared).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    let (elsewhere, _) = oauth_callback::sign_in(&app, &provider, account).await;
    assert_ne!(elsewhere.user_id, ada.user_id, "the intruder's provider account stays the intruder's");
    for later in &told[1..] {
        assert!(press(&app, &link(later)).await.text().contains("nothing to undo"));
    }
}

/// An address that was verified in another browser also belongs to the owner.
#[tokio::test]
async fn an_address_added_by_a_stolen_session_does_not_make_the_intruder_the_owner() {
    let app = TestApp::start().await;
    with_pages(&app).await;
    let ada = app.sign_up(ADA).await;
    let code = verification_code(&app, &ada, &channel_id(&app, &ada.user_id, ADA).await, ADA).await;
    assert_eq!(verify(&app, &code).await.status(), 200);
    app.send_emails_until_next_second().await;
    let before = notices(&app, ADA).await.len();
    joined(&app, &ada, EVE).await;
    removed(&app, &ada, ADA).await;
    let code = reset_code(&app, EVE).await;
    assert_eq!(reset(&app, &code).await.status(), 200);
    assert_eq!(password_sign_in(&app, EVE, NEW).await.json()["user_id"], ada.user_id);

    let told = notices(&app, ADA).await.split_off(before);
    assert!(press(&app, &link(&told[0])).await.text().contains("The changes are undone"));
    assert_owned(&app, &ada.user_id).await;
}

#[tokio::test]
async fn the_first_notice_still_works_after_a_later_one() {
    let app = TestApp::start().await;
    let ada = intruded(&app).await;
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    let told = notices(&app, ADA).await;
    press(&app, &link(&told[1])).await;
    assert_eq!(addresses(&app, &ada.user_id).await.len(), 2, "an address from before the change stays");
    app.advance(SignedDuration::from_secs(1));
    assert!(press(&app, &link(&told[0])).await.text().contains("The changes are undone"));
    assert_owned(&app, &ada.user_id).await;
}

#[tokio::test]
async fn a_replacement_address_must_be_verified_before_it_takes_over() {
    let app = TestApp::start().await;
    let ada = owned(&app).await;
    let path = format!("{CHANNELS}/me/{}", channel_id(&app, &ada.user_id, ADA).await);
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "value": EVE })).await.status(), 200);
    let body = json!({ "email": EVE, "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
    assert!(app.mails(EVE).await.is_empty(), "an email would let EVE prove the address and void ADA's links");
    assert!(press(&app, &link(&notices(&app, ADA).await[0])).await.text().contains("The changes are undone"));
    assert_owned(&app, &ada.user_id).await;
}

#[tokio::test]
async fn signing_up_with_an_address_does_not_block_its_owner() {
    let app = TestApp::start().await;
    let ada = taken_over(&app).await;
    let squatter = app.sign_up(ADA).await;
    assert_ne!(squatter.user_id, ada.user_id);
    assert!(press(&app, &link(&notices(&app, ADA).await[0])).await.text().contains("We have sent a link"));
    assert_owned(&app, &ada.user_id).await;
    assert_eq!(user(&app, &squatter.user_id).await["primary_email_verified"], false);
}

#[tokio::test]
async fn an_address_verified_by_another_user_meanwhile_stays_theirs() {
    let app = TestApp::start().await;
    let ada = taken_over(&app).await;
    let other = verified(&app, ADA).await;
    let done = press(&app, &link(&notices(&app, ADA).await[0])).await;
    assert!(done.text().contains("You cannot sign in to this account"), "{}", done.text());
    assert_eq!(app.sign_in(ADA).await.user_id, other.user_id);
    // The intruder is still signed out.
    assert_error(&app.signed_in(&ada).get("/api/v1/users/me").await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), false)]);
}

#[tokio::test]
async fn a_notice_undoes_many_later_changes() {
    let (app, provider) = oauth_callback::start().await;
    let ada = owned(&app).await;
    let channel =
        |address: String| json!({ "user_id": ada.user_id, "value": address, "type": "email", "used_for_auth": true, "is_verified": true });
    for number in 0..20 {
        let answer = app.server().post(CHANNELS, channel(format!("ada{number}@example.com"))).await;
        assert_eq!(answer.status(), 201, "{}", answer.text());
    }
    let before = addresses(&app, &ada.user_id).await;
    app.advance(SignedDuration::from_hours(2));
    app.send_emails().await;
    change(&app, &ada.user_id, json!({ "password": NEW })).await;
    for number in 0..20 {
        removed_by_server(&app, &ada.user_id, &format!("ada{number}@example.com")).await;
    }
    for number in 0..49 {
        let answer = app.server().post(CHANNELS, channel(format!("eve{number}@example.com"))).await;
        assert_eq!(answer.status(), 201, "{}", answer.text());
    }
    for number in 0..20 {
        let body = json!({ "user_id": ada.user_id, "provider_config_id": "acme", "account_id": format!("acme|{number}"), "allow_sign_in": number == 0, "allow_connected_accounts": true });
        let answer = app.server().post("/api/v1/oauth-providers", body).await;
        assert_eq!(answer.status(), 201, "{}", answer.text());
    }
    let first = notices(&app, ADA).await.into_iter().find(|mail| mail.0.text.contains("The password was changed.")).unwrap();
    assert!(press(&app, &link(&first)).await.text().contains("The changes are undone"));
    assert_eq!(addresses(&app, &ada.user_id).await, before);
    assert_eq!(user(&app, &ada.user_id).await["oauth_providers"], json!([]));
    drop(provider);
}

async fn removed_by_server(app: &TestApp, user: &str, address: &str) {
    let id = channel_id(app, user, address).await;
    assert_eq!(app.server().delete(&format!("{CHANNELS}/{user}/{id}")).await.status(), 200);
}

#[tokio::test]
async fn a_flood_of_changes_hides_no_change() {
    let app = TestApp::start().await;
    let ada = owned(&app).await;
    let own = app.signed_in(&ada);
    for number in 0..50 {
        for secret in [json!(SECRET), Value::Null] {
            assert_eq!(own.patch("/api/v1/users/me", json!({ "totp_secret_base64": secret })).await.status(), 200, "{number}");
        }
    }
    assert_eq!(notices(&app, ADA).await.len(), 8, "four notices of each kind are sent at once");
    joined(&app, &ada, EVE).await;
    let told = notices(&app, ADA).await;
    assert!(told.last().unwrap().0.text.contains("eve@example.com can be used to sign in."), "another kind is notified immediately");
    // Four notices of this kind have been sent, so the next notice is delayed, although it reports
    // the change that matters.
    for secret in [json!(SECRET), json!("MTIzNDU2Nzg5MDEyMzQ1Njc4OTE=")] {
        assert_eq!(own.patch("/api/v1/users/me", json!({ "totp_secret_base64": secret })).await.status(), 200);
    }
    assert_eq!(notices(&app, ADA).await.len(), 9);
    app.advance(SignedDuration::from_hours(1));
    let told = notices(&app, ADA).await;
    assert_eq!(told.len(), 11, "an hour later, each kind has one more notice");
    let last = told.iter().find(|mail| mail.0.text.contains("set up") && mail.0.text.contains("many such changes")).unwrap();
    assert!(press(&app, &link(last)).await.text().contains("The changes are undone"));
    let account = user(&app, &ada.user_id).await;
    assert_eq!((&account["requires_totp_mfa"], &account["has_password"]), (&json!(false), &json!(false)));
    assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)], "changes after the first one are undone, too");
}
