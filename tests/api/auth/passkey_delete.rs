//! `DELETE /api/v1/passkeys/{user_id}/{passkey_id}`, and other ways to remove passkeys.

use serde_json::json;
use support::{SignedInUser, TestApp};

use super::assert_error;

const ME: &str = "/api/v1/users/me";

async fn id_of_first(app: &TestApp, user: &SignedInUser) -> String {
    let list = app.server().get(&format!("/api/v1/passkeys?user_id={}", user.user_id)).await.json();
    list["items"][0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_deleted_passkey_no_longer_signs_in() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let passkey = app.add_passkey(&ada, 1).await;
    let id = id_of_first(&app, &ada).await;
    let (me, named) = (format!("/api/v1/passkeys/me/{id}"), format!("/api/v1/passkeys/{}/{id}", ada.user_id));
    assert_error(&app.signed_in(&bob).delete(&named).await, 403, "FORBIDDEN");
    assert_error(&app.signed_in(&bob).delete(&me).await, 404, "PASSKEY_NOT_FOUND");
    let started = app.start_authentication().await;
    assert_eq!(app.signed_in(&ada).delete(&me).await.status(), 200);
    assert_error(&app.send_assertion(&started.code, &passkey.assertion(&started.options)).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_error(&app.signed_in(&ada).delete(&me).await, 404, "PASSKEY_NOT_FOUND");
    assert_eq!(app.signed_in(&ada).get(ME).await.json()["passkey_auth_enabled"], false);
    let mails = app.mails("ada@example.com").await;
    assert!(mails.iter().any(|mail| mail.0.text.contains("A passkey was removed.")));
    assert!(!app.table().keys().any(|(pk, _)| pk.starts_with("K#")), "the claim is released");
}

#[tokio::test]
async fn a_user_keeps_the_last_way_to_sign_in() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let passkey = app.add_passkey(&ada, 1).await;
    app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "password": null })).await;
    let back = SignedInUser::of("ada@example.com", &app.sign_in_with(&passkey).await.json());
    let path = format!("/api/v1/passkeys/me/{}", id_of_first(&app, &ada).await);
    assert_error(&app.signed_in(&back).delete(&path).await, 409, "LAST_SIGN_IN_METHOD");
    let other = app.add_passkey(&back, 2).await;
    assert_eq!(app.signed_in(&back).delete(&path).await.status(), 200);
    let last = format!("/api/v1/passkeys/{}/{}", ada.user_id, id_of_first(&app, &ada).await);
    assert_error(&app.signed_in(&back).delete(&last).await, 409, "LAST_SIGN_IN_METHOD");
    assert_eq!(app.sign_in_with(&other).await.status(), 200);
    assert_eq!(app.server().delete(&last).await.status(), 200, "a server can also add another way");
}

#[tokio::test]
async fn passkey_auth_enabled_false_removes_all_passkeys_and_true_is_refused() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    let passkeys = [app.add_passkey(&ada, 1).await, app.add_passkey(&ada, 2).await];
    assert_error(&app.signed_in(&ada).patch(ME, json!({ "passkey_auth_enabled": true })).await, 400, "SCHEMA_ERROR");
    for _ in 0..2 {
        let answer = app.signed_in(&ada).patch(ME, json!({ "passkey_auth_enabled": false })).await;
        assert_eq!((answer.status(), &answer.json()["passkey_auth_enabled"]), (200, &json!(false)));
    }
    for passkey in passkeys {
        assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    }
    assert_eq!(app.signed_in(&ada).get(ME).await.status(), 200, "the session stays");
    app.add_passkey(&ada, 1).await;
}

#[tokio::test]
async fn the_first_proof_of_an_address_removes_passkeys() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "passkey_enabled": true, "magic_link_enabled": true } })).await;
    let squatter = app.sign_up("ada@example.com").await;
    let passkey = app.add_passkey(&squatter, 1).await;
    let owner = app.sign_in_by_mail("ada@example.com").await;
    assert_eq!(owner.user_id, squatter.user_id);
    assert_error(&app.sign_in_with(&passkey).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_eq!(app.signed_in(&owner).get(ME).await.json()["passkey_auth_enabled"], false);
}

#[tokio::test]
async fn not_me_removes_an_intruder_s_passkey_and_restores_the_owner_s() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "passkey_enabled": true, "magic_link_enabled": true } })).await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let own = app.add_passkey(&ada, 1).await;
    let id = id_of_first(&app, &ada).await;
    assert_eq!(app.signed_in(&ada).delete(&format!("/api/v1/passkeys/me/{id}")).await.status(), 200);
    let mails = app.mails("ada@example.com").await;
    let link = mails.iter().find(|mail| mail.0.text.contains("was removed")).unwrap().link();
    let foreign = app.add_passkey(&ada, 2).await;
    let answer = app.anonymous().request("POST", link.strip_prefix(support::API_URL).unwrap_or(&link)).send().await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_error(&app.sign_in_with(&foreign).await, 400, "PASSKEY_AUTHENTICATION_FAILED");
    assert_eq!(app.sign_in_with(&own).await.json()["user_id"], ada.user_id);
}
