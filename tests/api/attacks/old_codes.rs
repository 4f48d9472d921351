//! Codes that were made before what they were for changed: every kind of code, and everything that ends codes.

use serde_json::{Value, json};
use support::provider::Provider;
use support::{SignedIn, TestApp};

use super::{CHANNELS, NEW, PASSWORD, add, change, otp_sign_in, password_sign_in, reset, reset_code, user, verification_code, verify};
use crate::auth::assert_error;
use crate::auth::oauth_callback::{self, exchange, flow, parameter};

/// 20 bytes in base64.
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";

const KINDS: [&str; 5] = ["sign-in", "verification", "reset", "attempt", "authorization"];
const EVENTS: [&str; 7] = [
    "password updated",
    "password reset",
    "password set by the server",
    "first password set",
    "address removed",
    "address replaced",
    "no longer primary",
];

struct World {
    app: TestApp,
    provider: Provider,
    ada: SignedIn,
    /// Another address of hers, verified.
    work: String,
}

impl World {
    async fn new(has_password: bool) -> Self {
        let (app, provider) = oauth_callback::start().await;
        let ada = app.sign_in_by_mail("ada@example.com").await;
        if has_password {
            change(&app, &ada.user_id, json!({ "password": PASSWORD })).await;
        }
        let ada = app.sign_in_by_mail(&ada.email).await;
        let body =
            json!({ "user_id": ada.user_id, "value": "work@example.com", "type": "email", "used_for_auth": true, "is_verified": true });
        let work = app.server().post(CHANNELS, body).await.json()["id"].as_str().unwrap().to_owned();
        Self { app, provider, ada, work }
    }

    async fn code(&self, kind: &str) -> String {
        let app = &self.app;
        match kind {
            "sign-in" => app.sign_in_code("ada@example.com").await,
            "verification" => {
                let third = super::added(app, &self.ada, "third@example.com").await;
                verification_code(app, &self.ada, &third, "third@example.com").await
            }
            "reset" => reset_code(app, "ada@example.com").await,
            "attempt" => {
                change(app, &self.ada.user_id, json!({ "totp_secret_base64": SECRET })).await;
                let code = app.sign_in_code("ada@example.com").await;
                let details = assert_error(&otp_sign_in(app, &code).await, 400, "MULTI_FACTOR_AUTHENTICATION_REQUIRED");
                details["attempt_code"].as_str().unwrap().to_owned()
            }
            _ => parameter(&flow(app, &self.provider, oauth_callback::ada(), &[]).await, "code"),
        }
    }

    async fn happen(&self, event: &str) {
        let (app, own) = (&self.app, self.app.signed_in(&self.ada));
        let work = format!("{CHANNELS}/{}/{}", self.ada.user_id, self.work);
        let done = match event {
            "password updated" => own.post("/api/v1/auth/password/update", json!({ "old_password": PASSWORD, "new_password": NEW })).await,
            "password reset" => reset(app, &reset_code(app, "work@example.com").await).await,
            "password set by the server" => {
                app.server().patch(&format!("/api/v1/users/{}", self.ada.user_id), json!({ "password": NEW })).await
            }
            "first password set" => own.post("/api/v1/auth/password/set", json!({ "password": NEW })).await,
            "address removed" => own.delete(&work).await,
            "address replaced" => own.patch(&work, json!({ "value": "office@example.com" })).await,
            _ => own.patch(&work, json!({ "is_primary": true })).await,
        };
        assert_eq!(done.status(), 200, "{event}: {}", done.text());
    }

    async fn redeem(&self, kind: &str, code: &str) -> support::Answer {
        let app = &self.app;
        match kind {
            "sign-in" => otp_sign_in(app, code).await,
            "verification" => verify(app, code).await,
            "reset" => reset(app, code).await,
            "attempt" => {
                let totp = support::authenticator_code(b"12345678901234567890", app.now().as_second());
                app.client().post("/api/v1/auth/mfa/sign-in", json!({ "code": code, "type": "totp", "totp": totp })).await
            }
            _ => exchange(app, code).await,
        }
    }

    /// Whether a check says that the code is good, for kinds that have one.
    async fn is_valid(&self, kind: &str, code: &str) -> Option<bool> {
        let path = match kind {
            "sign-in" => "/api/v1/auth/otp/sign-in/check-code",
            "verification" => "/api/v1/contact-channels/verify/check-code",
            "reset" => "/api/v1/auth/password/reset/check-code",
            _ => return None,
        };
        Some(self.app.client().post(path, json!({ "code": code })).await.json()["is_code_valid"] == true)
    }
}

#[tokio::test]
async fn every_kind_of_code_dies_with_every_change_of_what_it_was_for() {
    for kind in KINDS {
        let world = World::new(true).await;
        let code = world.code(kind).await;
        assert!(world.is_valid(kind, &code).await.unwrap_or(true), "{kind}");
        assert_eq!(world.redeem(kind, &code).await.status(), 200, "{kind} works when nothing happens");
        for event in EVENTS {
            let world = World::new(event != "first password set").await;
            let code = world.code(kind).await;
            world.happen(event).await;
            let before = user(&world.app, &world.ada.user_id).await;
            assert!(!world.is_valid(kind, &code).await.unwrap_or(false), "{kind} after {event}");
            let answer = world.redeem(kind, &code).await;
            if kind == "authorization" {
                assert_error(&answer, 400, "INVALID_AUTHORIZATION_CODE");
            } else {
                assert_error(&answer, 404, "VERIFICATION_CODE_NOT_FOUND");
            }
            assert_eq!(user(&world.app, &world.ada.user_id).await, before, "{kind} after {event}");
        }
    }
}

#[tokio::test]
async fn of_two_reset_codes_the_other_dies_with_the_one_that_is_used() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    let [older, newer] = [reset_code(&app, "ada@example.com").await, reset_code(&app, "ada@example.com").await];
    assert_eq!(reset(&app, &newer).await.status(), 200);
    let other = json!({ "code": older, "password": "the attacker's battery" });
    assert_error(&app.client().post("/api/v1/auth/password/reset", other).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(password_sign_in(&app, "ada@example.com", NEW).await.status(), 200);
}

#[tokio::test]
async fn an_added_or_verified_address_ends_no_code() {
    let world = World::new(true).await;
    let (app, sign_in, reset_by) = (&world.app, world.code("sign-in").await, world.code("reset").await);
    let verification = world.code("verification").await;
    assert_eq!(add(app, &world.ada, "fourth@example.com").await.status(), 201);
    assert_eq!(verify(app, &verification).await.status(), 200);
    assert_eq!(otp_sign_in(app, &sign_in).await.status(), 200);
    assert_eq!(reset(app, &reset_by).await.status(), 200);
}

#[tokio::test]
async fn a_flow_that_was_begun_before_links_nothing_afterwards() {
    for event in ["password updated", "address removed"] {
        let world = World::new(true).await;
        let (app, provider) = (&world.app, &world.provider);
        let link = [("type", "link"), ("token", world.ada.access_token.as_str())];
        let attacker = || json!({ "sub": "acme|666", "email": "eve@example.com", "email_verified": true });
        // One that has come back from the provider, and one that is still there.
        let code = parameter(&flow(app, provider, attacker(), &link).await, "code");
        let location = oauth_callback::begin(app, &link).await;
        world.happen(event).await;
        assert_error(&exchange(app, &code).await, 400, "INVALID_AUTHORIZATION_CODE");
        let (code, state) = provider.allow(app, &location, attacker());
        let url = oauth_callback::landed(&oauth_callback::come_back(app, &code, &state).await);
        assert_eq!(oauth_callback::error_of(&url), "CANNOT_GET_OWN_USER_WITHOUT_USER");
        assert_eq!(user(app, &world.ada.user_id).await["oauth_providers"], Value::Array(Vec::new()));
    }
}

#[tokio::test]
async fn a_code_for_one_account_signs_in_to_no_other() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_in_by_mail("ada@example.com").await, app.sign_in_by_mail("bob@example.com").await);
    let code = app.sign_in_code("ada@example.com").await;
    // The server moves the address to another user.
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    change(&app, &bob.user_id, json!({ "primary_email": "ada@example.com", "primary_email_verified": true })).await;
    assert_error(&otp_sign_in(&app, &code).await, 404, "VERIFICATION_CODE_NOT_FOUND");
}
