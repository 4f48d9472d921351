//! Tables of an earlier version, which had neither credential epochs nor pending addresses.

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use model::user::standing::Standing;
use serde_json::json;
use support::{SignedInUser, TestApp};

use super::{NEW, add, added, addresses, otp_sign_in, reset, reset_code, user, verification_code, verify};
use crate::auth::{assert_error, oauth_callback};
use crate::stored;

/// Removes the fields that the earlier version lacked.
async fn age(app: &TestApp) {
    for (pk, sk) in app.table().into_keys() {
        let is_aged = ["U#", "E#", "O#", "C#", "A#", "S#"].iter().any(|kind| pk.starts_with(kind));
        if !is_aged || sk.starts_with("SESSION#") || sk.starts_with("PROVIDER#") {
            continue;
        }
        let (key, store) = ([("pk", pk), ("sk", sk)], &app.app.store);
        let mut update =
            UpdateItemInput::builder().table_name(store.table()).update_expression("REMOVE d.credential_epoch, d.epoch, d.begun_in");
        for (name, value) in key {
            update = update.key(name, AttributeValue::S(value));
        }
        store.client().call(update).await.unwrap();
    }
}

/// Adds an unverified sign-in address to a user, as clients of the earlier version could, and
/// changes the table to the form of the earlier version.
async fn squat(app: &TestApp, user: &SignedInUser, address: &str) {
    added(app, user, address).await;
    let (store, project) = (&app.app.store, app.project_id());
    let row = store.user(project, stored::user_id(user)).await.unwrap().unwrap();
    let mut after = row.user.clone();
    after.channels.iter_mut().for_each(|channel| channel.standing = Standing::Provisional);
    store.change_account(project, &row, &after, Vec::new()).await.unwrap();
    age(app).await;
}

#[tokio::test]
async fn codes_of_an_earlier_version_work_until_invalidated() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let work = added(&app, &ada, "work@example.com").await;
    let [reset_one, reset_two] = [reset_code(&app, "ada@example.com").await, reset_code(&app, "ada@example.com").await];
    let sign_in = [app.sign_in_code("ada@example.com").await, app.sign_in_code("ada@example.com").await];
    let verification = verification_code(&app, &ada, &work, "work@example.com").await;
    age(&app).await;
    assert_eq!(otp_sign_in(&app, &sign_in[0]).await.status(), 200);
    assert_eq!(verify(&app, &verification).await.status(), 200);
    assert_eq!(reset(&app, &reset_one).await.status(), 200);
    assert_error(&reset(&app, &reset_two).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_error(&otp_sign_in(&app, &sign_in[1]).await, 404, "VERIFICATION_CODE_NOT_FOUND");
}

#[tokio::test]
async fn users_sessions_and_claims_of_an_earlier_version_keep_working() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    age(&app).await;
    assert_eq!(app.signed_in(&ada).get("/api/v1/users/me").await.status(), 200);
    assert_eq!(app.sign_in("ada@example.com").await.user_id, ada.user_id);
    let body = json!({ "old_password": "correct horse battery", "new_password": NEW });
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/password/update", body).await.status(), 200);
    assert_eq!(reset(&app, &reset_code(&app, "ada@example.com").await).await.status(), 200);
}

#[tokio::test]
async fn an_unverified_extra_address_yields_to_its_verifier() {
    let app = TestApp::start().await;
    let (eve, bob) = (app.sign_up("eve@example.com").await, app.sign_up("bob@example.com").await);
    squat(&app, &eve, "bob@work.example").await;
    assert_eq!(app.sign_in("bob@work.example").await.user_id, eve.user_id, "in old tables, the address signs in the squatter");
    let wished = added(&app, &bob, "bob@work.example").await;
    let code = verification_code(&app, &bob, &wished, "bob@work.example").await;
    assert_eq!(verify(&app, &code).await.status(), 200);
    assert_eq!(app.sign_in("bob@work.example").await.user_id, bob.user_id);
    // The squatter keeps the address as a pending address that can no longer be verified. Their own
    // is unaffected.
    assert_eq!(addresses(&app, &eve.user_id).await, [("eve@example.com".to_owned(), false), ("bob@work.example".to_owned(), false)]);
    assert_eq!(app.sign_in("eve@example.com").await.user_id, eve.user_id);
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", eve.user_id)).await.status(), 200);
    assert_eq!(app.sign_in("bob@work.example").await.user_id, bob.user_id, "deleting the squatter does not affect other users");
}

#[tokio::test]
async fn the_address_an_account_was_created_with_does_not_yield() {
    let app = TestApp::start().await;
    let (eve, bob) = (app.sign_up("eve@example.com").await, app.sign_up("bob@example.com").await);
    age(&app).await;
    let wished = added(&app, &bob, "eve@example.com").await;
    let code = verification_code(&app, &bob, &wished, "eve@example.com").await;
    assert_error(&verify(&app, &code).await, 409, "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE");
    assert_eq!(app.sign_in("eve@example.com").await.user_id, eve.user_id);
    // A person who reads the emails to the address gets the account with a reset, which removes the
    // earlier credentials.
    assert_eq!(reset(&app, &reset_code(&app, "eve@example.com").await).await.status(), 200);
    assert_error(&add(&app, &eve, "more@example.com").await, 401, "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn oauth_flows_of_an_earlier_version_finish_without_a_session() {
    let (app, provider) = oauth_callback::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let link = [("type", "link"), ("token", ada.access_token.as_str())];
    let (code, state) = provider.allow(&app, &oauth_callback::begin(&app, &link).await, oauth_callback::ada());
    age(&app).await;
    let code = oauth_callback::parameter(&oauth_callback::landed(&oauth_callback::come_back(&app, &code, &state).await), "code");
    age(&app).await;
    assert_eq!(app.signed_in(&ada).delete("/api/v1/auth/sessions/current").await.status(), 200);
    assert_eq!(oauth_callback::exchange(&app, &code).await.status(), 200);
    assert_eq!(user(&app, &ada.user_id).await["oauth_providers"][0]["account_id"], "acme|1");
}
