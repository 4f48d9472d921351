//! An intruder with a stolen session adds an address that is not an ordinary new sign-in address.
//! The owner is notified and can undo the change.

use serde_json::json;
use support::{SignedInUser, TestApp};

use super::notices::{channel_id, joined, removed};
use super::{CHANNELS, PASSWORD, addresses, reset_code, verification_code, verify};
use crate::auth::account_notices::{link, notices, press, verified, with_pages};

const ADA: &str = "ada@example.com";
const OLD: &str = "old@example.com";
const EVE: &str = "eve@example.com";

/// Adds an address that is not used for signing in, and verifies it.
async fn joined_as_contact(app: &TestApp, session: &SignedInUser, address: &str) -> String {
    let body = json!({ "user_id": "me", "value": address, "type": "email", "used_for_auth": false });
    let added = app.signed_in(session).post(CHANNELS, body).await;
    assert_eq!(added.status(), 201, "{}", added.text());
    let id = added.json()["id"].as_str().unwrap().to_owned();
    let code = verification_code(app, session, &id, address).await;
    assert_eq!(verify(app, &code).await.status(), 200);
    app.send_emails().await;
    app.advance(jiff::SignedDuration::from_secs(1));
    id
}

#[tokio::test]
async fn an_old_unverified_address_does_not_lead_into_a_verified_account() {
    for is_deleted in [false, true] {
        let app = TestApp::start().await;
        with_pages(&app).await;
        let ada = app.sign_up(OLD).await;
        joined(&app, &ada, ADA).await;
        let own = app.signed_in(&ada);
        let path = format!("{CHANNELS}/me/{}", channel_id(&app, &ada.user_id, ADA).await);
        let gone = if is_deleted { own.delete(&path).await } else { own.patch(&path, json!({ "used_for_auth": false })).await };
        assert_eq!(gone.status(), 200);
        let path = format!("{CHANNELS}/me/{}", channel_id(&app, &ada.user_id, OLD).await);
        assert_eq!(own.patch(&path, json!({ "value": EVE })).await.status(), 200);
        let body = json!({ "email": EVE, "callback_url": "http://localhost:3000/x" });
        assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
        assert!(app.mails(EVE).await.is_empty(), "an email would let EVE prove the address and void ADA's links");
        let told = notices(&app, ADA).await;
        assert!(press(&app, &link(&told[0])).await.text().contains("The changes are undone"), "{}", told[0].0.text);
        assert!(addresses(&app, &ada.user_id).await.contains(&(ADA.to_owned(), true)));
        assert!(addresses(&app, &ada.user_id).await.iter().all(|(address, _)| address != EVE));
    }
}

#[tokio::test]
async fn an_owner_is_told_of_a_verified_address_that_does_not_sign_in() {
    for is_verified in [false, true] {
        let app = TestApp::start().await;
        with_pages(&app).await;
        let ada = if is_verified { verified(&app, ADA).await } else { app.sign_up(ADA).await };
        let id = joined_as_contact(&app, &ada, EVE).await;
        let made_way_in = json!({ "used_for_auth": true, "is_primary": true });
        assert_eq!(app.signed_in(&ada).patch(&format!("{CHANNELS}/me/{id}"), made_way_in).await.status(), 200);
        let told = notices(&app, ADA).await;
        assert!(told[0].0.text.contains("eve@example.com was verified"), "{}", told[0].0.text);
        assert!(press(&app, &link(&told[0])).await.text().contains("The changes are undone"));
        assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), is_verified)]);
    }
}

/// Someone who verifies another address first cannot undo the changes of the first address's owner.
#[tokio::test]
async fn the_first_address_stays_senior_even_if_it_is_verified_last() {
    for is_imported in [false, true] {
        let app = TestApp::start().await;
        with_pages(&app).await;
        let ada = if is_imported { imported(&app).await } else { app.sign_up(ADA).await };
        let id = joined_as_contact(&app, &ada, EVE).await;
        let first = channel_id(&app, &ada.user_id, ADA).await;
        let code = verification_code(&app, &ada, &first, ADA).await;
        assert_eq!(verify(&app, &code).await.status(), 200);
        let made_way_in = json!({ "used_for_auth": true });
        assert_eq!(app.signed_in(&ada).patch(&format!("{CHANNELS}/me/{id}"), made_way_in).await.status(), 200);
        removed(&app, &ada, EVE).await;
        let told = notices(&app, EVE).await;
        assert!(!told.is_empty());
        for mail in told {
            assert!(press(&app, &link(&mail)).await.text().contains("nothing to undo"), "{}", mail.0.text);
        }
        assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)]);
        // The owner's link still works.
        let told = notices(&app, ADA).await;
        assert!(press(&app, &link(&told[0])).await.text().contains("The changes are undone"));
        reset_code(&app, ADA).await;
    }
}

/// A user created by a server, with an unverified address.
async fn imported(app: &TestApp) -> SignedInUser {
    let body = json!({ "primary_email": ADA, "primary_email_auth_enabled": true, "password": PASSWORD });
    assert_eq!(app.server().post("/api/v1/users", body).await.status(), 201);
    app.sign_in(ADA).await
}
