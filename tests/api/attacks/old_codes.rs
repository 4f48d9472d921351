//! Codes that were created before a change to their account. [`super::code_matrix`] lists which
//! changes invalidate which codes.

use serde_json::{Value, json};
use support::TestApp;

use super::code_world::{Base, Event, Kind, World};
use super::{NEW, add, change, otp_sign_in, password_sign_in, reset, reset_code, user, verify};
use crate::auth::assert_error;
use crate::auth::oauth_callback::{self, exchange, flow, parameter};

#[tokio::test]
async fn using_one_reset_code_invalidates_the_other() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let [older, newer] = [reset_code(&app, "ada@example.com").await, reset_code(&app, "ada@example.com").await];
    assert_eq!(reset(&app, &newer).await.status(), 200);
    let other = json!({ "code": older, "password": "the attacker's battery" });
    assert_error(&app.client().post("/api/v1/auth/password/reset", other).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(password_sign_in(&app, "ada@example.com", NEW).await.status(), 200);
}

#[tokio::test]
async fn adding_or_verifying_an_address_invalidates_no_code() {
    let world = World::new(Base::PLAIN).await;
    let (app, sign_in, reset_by) = (&world.app, world.code(Kind::SignInLink).await, world.code(Kind::Reset).await);
    let verification = world.code(Kind::Verification).await;
    assert_eq!(add(app, &world.ada, "fourth@example.com").await.status(), 201);
    assert_eq!(verify(app, &verification).await.status(), 200);
    assert_eq!(otp_sign_in(app, &sign_in).await.status(), 200);
    assert_eq!(reset(app, &reset_by).await.status(), 200);
}

#[tokio::test]
async fn an_oauth_flow_started_before_the_epoch_change_links_nothing() {
    for event in [Event::PasswordUpdated, Event::AddressRemoved] {
        let world = World::new(Base::PLAIN).await;
        let (app, provider) = (&world.app, &world.provider);
        let link = [("type", "link"), ("token", world.ada.access_token.as_str())];
        let attacker = || json!({ "sub": "acme|666", "email": "eve@example.com", "email_verified": true });
        // In the first flow, the user has returned from the provider. In the second flow, the user
        // has not returned yet.
        let code = parameter(&flow(app, provider, attacker(), &link).await, "code");
        let location = oauth_callback::begin(app, &link).await;
        world.happen(event, "", "").await;
        assert_error(&exchange(app, &code).await, 400, "INVALID_AUTHORIZATION_CODE");
        let (code, state) = provider.allow(app, &location, attacker());
        let url = oauth_callback::landed(&oauth_callback::come_back(app, &code, &state).await);
        assert_eq!(oauth_callback::error_of(&url), "CANNOT_GET_OWN_USER_WITHOUT_USER");
        let accounts = user(app, &world.ada.user_id).await["oauth_providers"].clone();
        let ids: Vec<&Value> = accounts.as_array().unwrap().iter().map(|account| &account["account_id"]).collect();
        assert_eq!(ids, ["acme|1"], "only the earlier account is linked");
    }
}

#[tokio::test]
async fn a_code_signs_in_only_to_its_own_account() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_in_by_mail("ada@example.com").await, app.sign_in_by_mail("bob@example.com").await);
    let code = app.sign_in_code("ada@example.com").await;
    // A server gives the address to another user.
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    change(&app, &bob.user_id, json!({ "primary_email": "ada@example.com", "primary_email_verified": true })).await;
    assert_error(&otp_sign_in(&app, &code).await, 404, "VERIFICATION_CODE_NOT_FOUND");
}
