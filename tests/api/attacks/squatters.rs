//! Attempts to claim other people's addresses.

use serde_json::json;
use support::{SignedInUser, TestApp};

use super::{CHANNELS, NEW, PASSWORD, add, added, addresses, password_sign_in, reset, reset_code, verification_code, verify};
use crate::auth::assert_error;

const TAKEN: &str = "CONTACT_CHANNEL_ALREADY_USED_FOR_AUTH_BY_SOMEONE_ELSE";

fn claims(app: &TestApp) -> usize {
    app.table().keys().filter(|(pk, sk)| pk.starts_with("E#") && sk == "CLAIM").count()
}

#[tokio::test]
async fn an_account_cannot_claim_addresses_of_strangers() {
    let app = TestApp::start().await;
    let eve = app.sign_up("eve@example.com").await;
    for number in 0..49 {
        let answer = add(&app, &eve, &format!("stranger{number}@example.com")).await;
        assert_eq!((answer.status(), &answer.json()["used_for_auth"]), (201, &json!(true)), "it is pending, but reported as requested");
    }
    assert_eq!(claims(&app), 1);
    for number in 0..49 {
        let stranger = app.sign_up(&format!("stranger{number}@example.com")).await;
        assert_ne!(stranger.user_id, eve.user_id);
        assert_eq!(app.sign_in(&stranger.email).await.user_id, stranger.user_id);
    }
    assert_eq!(claims(&app), 50);
}

/// Adds an address to the user's account in one of the ways that are open to clients.
async fn squat(app: &TestApp, eve: &SignedInUser, way: &str, address: &str) {
    let own = app.signed_in(eve);
    let answer = match way {
        "added" => add(app, eve, address).await,
        "added as primary" => {
            let body = json!({ "user_id": "me", "value": address, "type": "email", "used_for_auth": true, "is_primary": true });
            own.post(CHANNELS, body).await
        }
        "made primary" => own.patch("/api/v1/users/me", json!({ "primary_email": address })).await,
        "switched on" => {
            let body = json!({ "user_id": "me", "value": address, "type": "email", "used_for_auth": false });
            let id = own.post(CHANNELS, body).await.json()["id"].as_str().unwrap().to_owned();
            own.patch(&format!("{CHANNELS}/me/{id}"), json!({ "used_for_auth": true })).await
        }
        _ => {
            let id = added(app, eve, "other@example.com").await;
            own.patch(&format!("{CHANNELS}/me/{id}"), json!({ "value": address })).await
        }
    };
    assert!([200, 201].contains(&answer.status()), "{way}: {}", answer.text());
}

#[tokio::test]
async fn adding_an_unproved_address_does_not_claim_it() {
    for way in ["added", "added as primary", "made primary", "switched on", "replaced"] {
        let app = TestApp::start().await;
        let eve = app.sign_up("eve@example.com").await;
        squat(&app, &eve, way, "ada@example.com").await;
        // The squatter's account does not cause emails to the address.
        let unknown = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
        assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", unknown).await.status(), 200);
        assert!(app.mails("ada@example.com").await.is_empty(), "{way}");
        let ada = app.sign_up("ada@example.com").await;
        assert_ne!(ada.user_id, eve.user_id, "{way}");
        assert_eq!(reset(&app, &reset_code(&app, "ada@example.com").await).await.status(), 200, "{way}");
        assert_eq!(app.sign_in("eve@example.com").await.user_id, eve.user_id, "the squatter's own account is unchanged");
    }
}

#[tokio::test]
async fn the_first_to_verify_an_address_owns_it() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let [of_ada, of_bob] = [added(&app, &ada, "shared@example.com").await, added(&app, &bob, "shared@example.com").await];
    let first = verification_code(&app, &ada, &of_ada, "shared@example.com").await;
    let second = verification_code(&app, &bob, &of_bob, "shared@example.com").await;
    assert_eq!(verify(&app, &first).await.status(), 200);
    assert_eq!(app.sign_in("shared@example.com").await.user_id, ada.user_id);
    let table = app.table();
    let details = assert_error(&verify(&app, &second).await, 409, TAKEN);
    assert_eq!(details["contact_channel_value"], "shared@example.com");
    let unverified = ["bob@example.com", "shared@example.com"].map(|address| (address.to_owned(), false));
    assert_eq!(addresses(&app, &bob.user_id).await, unverified);
    let changed: Vec<_> = app.table().into_iter().filter(|(key, item)| table.get(key) != Some(item)).map(|(key, _)| key.0).collect();
    assert!(changed.iter().all(|pk| pk.starts_with("C#")), "only the attempt is counted: {changed:?}");
    assert_eq!(app.sign_in("shared@example.com").await.user_id, ada.user_id);
}

#[tokio::test]
async fn a_server_can_claim_an_address_immediately() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let body = json!({ "user_id": ada.user_id, "value": "work@example.com", "type": "email", "used_for_auth": true });
    assert_eq!(app.server().post(CHANNELS, body).await.status(), 201);
    assert_eq!(app.sign_in("work@example.com").await.user_id, ada.user_id);
    let taken = app.client().post("/api/v1/auth/password/sign-up", json!({ "email": "work@example.com", "password": PASSWORD })).await;
    assert_error(&taken, 409, "USER_EMAIL_ALREADY_EXISTS");
    // The address is not given to another user who verifies it.
    let wished = added(&app, &bob, "work@example.com").await;
    let code = verification_code(&app, &bob, &wished, "work@example.com").await;
    assert_error(&verify(&app, &code).await, 409, TAKEN);
    // A server can also turn a pending address into a sign-in address.
    let wished = added(&app, &bob, "bob@work.example").await;
    let path = format!("{CHANNELS}/{}/{wished}", bob.user_id);
    assert_eq!(app.server().patch(&path, json!({ "used_for_auth": true })).await.status(), 200);
    assert_eq!(app.sign_in("bob@work.example").await.user_id, bob.user_id);
}

#[tokio::test]
async fn correcting_a_mistyped_address_locks_nobody_out() {
    let app = TestApp::start().await;
    let ada = app.sign_up("adda@example.com").await;
    let list = app.signed_in(&ada).get(&format!("{CHANNELS}?user_id=me")).await.json();
    let path = format!("{CHANNELS}/me/{}", list["items"][0]["id"].as_str().unwrap());
    assert_eq!(app.signed_in(&ada).patch(&path, json!({ "value": "ada@example.com" })).await.status(), 200);
    assert_eq!(app.sign_in("ada@example.com").await.user_id, ada.user_id);
    // A user with a new password can still correct the address.
    let update = json!({ "old_password": PASSWORD, "new_password": NEW });
    assert_eq!(app.signed_in(&ada).post("/api/v1/auth/password/update", update).await.status(), 200);
    let ada = SignedInUser::of("ada@example.com", &password_sign_in(&app, "ada@example.com", NEW).await.json());
    for address in ["aada@example.com", "ada@example.com"] {
        assert_eq!(app.signed_in(&ada).patch(&path, json!({ "value": address })).await.status(), 200);
        assert_eq!(password_sign_in(&app, address, NEW).await.status(), 200, "{address}");
    }
    // As at sign-up, the address must not belong to another account.
    let bob = app.sign_up("bob@example.com").await;
    let list = app.signed_in(&bob).get(&format!("{CHANNELS}?user_id=me")).await.json();
    let path = format!("{CHANNELS}/me/{}", list["items"][0]["id"].as_str().unwrap());
    assert_error(&app.signed_in(&bob).patch(&path, json!({ "value": "ada@example.com" })).await, 409, TAKEN);
    assert_eq!(claims(&app), 2);
}
