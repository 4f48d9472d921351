//! Sessions, consent, scopes and clients must end when the right to them ends.

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

use super::{CLIENTS, RelyingParty, claims, signed_in, text};
use crate::hosted::query_of;

const COMPLETE: &str = "/api/v1/auth/oauth2/authorizations/complete";

/// Someone who stole an access token can use the token for ten minutes, but must not be able to
/// start a session with it.
#[tokio::test]
async fn an_access_token_alone_begins_no_session() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let request = rp.request(&browser, &[]).await;
    let own = app.client().with("x-service-access-token", &browser.access_token_of().await);
    let body = json!({ "request": request });
    assert_eq!(own.post(COMPLETE, body.clone()).await.code(), "SCHEMA_ERROR");
    let other = signed_in(&app, "mallory@example.com").await.cookie_of("session").unwrap();
    let mismatched = own.with("x-service-refresh-token", &other).post(COMPLETE, body.clone()).await;
    assert_eq!(mismatched.code(), "CROSS_DOMAIN_SESSION_MISMATCH");
    // The session of a client must not start another session either.
    let tokens = rp.tokens(&browser).await;
    let of_client = app.client().with("x-service-access-token", &text(&tokens["access_token"]));
    let refused = of_client.with("x-service-refresh-token", &text(&tokens["refresh_token"])).post(COMPLETE, body).await;
    assert_eq!(refused.code(), "CROSS_DOMAIN_SESSION_MISMATCH");
}

#[tokio::test]
async fn a_session_of_a_client_ends_no_later_than_the_one_it_began_in() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let user = text(&claims(&rp.tokens(&browser).await["access_token"])["sub"]);
    let short = app.server().post("/api/v1/auth/sessions", json!({ "user_id": user, "expires_in_millis": 60_000 })).await.json();
    browser.set_cookie("session", &text(&short["refresh_token"]));
    let tokens = rp.tokens(&browser).await;
    app.advance(SignedDuration::from_secs(61));
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
}

/// An attacker signs up with the address of another person, and consents in that person's name.
#[tokio::test]
async fn consent_does_not_survive_a_new_owner() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let attacker = signed_in(&app, "ada@example.com").await;
    rp.tokens(&attacker).await;
    let reset = json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/reset" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", reset).await.status(), 200);
    app.send_emails().await;
    let mails = app.mails("ada@example.com").await;
    let code = mails.iter().find(|mail| mail.link().contains("/reset?")).map(|mail| query_of(&mail.link())["code"].clone()).unwrap();
    let body = json!({ "code": code, "password": "a new and different one" });
    assert_eq!(app.client().post("/api/v1/auth/password/reset", body).await.status(), 200);
    let owner = crate::hosted::Browser::new(&app);
    let fields = [("email", "ada@example.com"), ("password", "a new and different one"), ("action", "password")];
    assert_eq!(owner.submit("sign-in", &[], &fields).await.status(), 303);
    let silent = rp.page(&owner, &[("prompt", "none")]).await;
    assert_eq!(query_of(silent.header("location").unwrap())["error"], "consent_required");
    let own = app.client().with("x-service-access-token", &owner.access_token_of().await);
    assert_eq!(own.get("/api/v1/users/me/grants").await.json()["items"], json!([]));
    assert!(rp.tokens(&owner).await["id_token"].is_string(), "the owner can consent anew");
}

/// Clients find accounts by verified addresses, so a click by another person must not verify an
/// address.
#[tokio::test]
async fn an_address_that_somebody_else_verified_is_not_verified_for_clients() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let attacker = signed_in(&app, "ada@example.com").await;
    app.send_emails().await;
    let code = query_of(&app.last_mail("ada@example.com").await.link())["code"].clone();
    assert_eq!(app.client().post("/api/v1/contact-channels/verify", json!({ "code": code })).await.status(), 200);
    let tokens = rp.tokens(&attacker).await;
    for found in [claims(&tokens["id_token"]), claims(&tokens["access_token"]), rp.userinfo(&text(&tokens["access_token"])).await.json()] {
        assert_eq!((&found["email"], &found["email_verified"]), (&json!("ada@example.com"), &json!(false)), "{found}");
    }
}

#[tokio::test]
async fn a_client_that_is_switched_off_or_demoted_loses_the_api_at_once() {
    let app = TestApp::start().await;
    let browser = signed_in(&app, "ada@example.com").await;
    for change in [json!({ "is_disabled": true }), json!({ "is_first_party": false }), json!(null)] {
        let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
        let (tokens, code) = (rp.tokens(&browser).await, rp.code(&browser, &[]).await);
        let caller = app.client().with("x-service-access-token", &text(&tokens["access_token"]));
        assert_eq!(caller.get("/api/v1/users/me").await.status(), 200);
        let path = format!("{CLIENTS}/{}", rp.id);
        let changed = if change.is_null() { app.admin().delete(&path).await } else { app.admin().patch(&path, change.clone()).await };
        assert_eq!(changed.status(), 200);
        assert_eq!(caller.get("/api/v1/users/me").await.status(), 401, "{change}");
        assert!(rp.refresh(&text(&tokens["refresh_token"])).await.status() >= 400, "{change}");
        assert!(rp.redeem(&code).await.status() >= 400, "{change}");
        assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401, "{change}");
    }
}

#[tokio::test]
async fn a_narrowed_token_and_a_narrowed_client_learn_less() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let token = text(&rp.tokens(&browser).await["refresh_token"]);
    let narrow = [("grant_type", "refresh_token"), ("refresh_token", token.as_str()), ("scope", "openid")];
    let narrowed = rp.token(&narrow).await.json();
    let info = rp.userinfo(&text(&narrowed["access_token"])).await.json();
    assert_eq!(info.as_object().unwrap().keys().collect::<Vec<_>>(), ["sub"]);
    let claims = claims(&narrowed["access_token"]);
    for claim in ["signed_up_at", "is_restricted", "selected_team_id", "requires_totp_mfa"] {
        assert_eq!(claims.get(claim), None, "{claim}");
    }
    app.admin().patch(&format!("{CLIENTS}/{}", rp.id), json!({ "scopes": ["openid", "offline_access"] })).await;
    assert_eq!(rp.refresh(&text(&narrowed["refresh_token"])).await.json()["scope"], "openid offline_access");
}

#[tokio::test]
async fn who_may_sign_in_is_checked_again() {
    let app = TestApp::start().await;
    let browser = signed_in(&app, "ada@example.com").await;
    let open = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let user = text(&claims(&open.tokens(&browser).await["access_token"])["sub"]);
    let team = text(&app.server().post("/api/v1/teams", json!({ "display_name": "Staff" })).await.json()["id"]);
    let membership = format!("/api/v1/team-memberships/{team}/{user}");
    assert_eq!(app.server().post(&membership, json!({})).await.status(), 201);
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true, "allowed_team_ids": [team] })).await;
    let (tokens, code) = (rp.tokens(&browser).await, rp.code(&browser, &[]).await);
    assert_eq!(app.server().delete(&membership).await.status(), 200);
    assert_eq!(rp.redeem(&code).await.json()["error"], "invalid_grant");
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
    let code = open.code(&browser, &[]).await;
    let restricted = json!({ "restricted_by_admin": true, "restricted_by_admin_reason": "spam" });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{user}"), restricted).await.status(), 200);
    assert_eq!(open.redeem(&code).await.json()["error"], "invalid_grant", "restricted since the code was issued");
}

/// Another site can send a browser to the endpoint, which then does not receive the browser's
/// cookies.
#[tokio::test]
async fn a_form_of_another_site_replaces_no_cookie() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let sent = app.anonymous().request("POST", &rp.endpoint("authorize")).form(&[("client_id", "x")]).send().await;
    assert!(sent.headers("set-cookie").is_empty());
}

#[tokio::test]
async fn the_project_of_administrators_has_no_clients() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let body = json!({ "name": "Notes", "client_type": "public", "redirect_uris": ["https://notes.example.com/cb"] });
    assert_eq!(app.admin_of(&internal).post(CLIENTS, body).await.status(), 403);
}
