//! Signing in to a client, from the authorization endpoint to the tokens.

use serde_json::{Value, json};
use support::TestApp;

use super::{RelyingParty, claims, header, signed_in, text};
use crate::hosted::{Browser, form_token, query_of, sign_up};

#[tokio::test]
async fn a_visitor_signs_up_consents_and_returns_with_a_code() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = Browser::new(&app);
    let request = rp.request(&browser, &[("login_hint", "ada@example.com")]).await;
    let to_sign_in = browser.open("authorize", &[("request", &request)]).await;
    let location = to_sign_in.header("location").unwrap().to_owned();
    assert!(location.contains("/handler/sign-in?"), "{location}");
    let query = query_of(&location);
    assert_eq!(query["login_hint"], "ada@example.com");
    let back: Vec<(&str, &str)> = vec![("after_auth_return_to", &query["after_auth_return_to"])];
    assert!(browser.open("sign-in", &back).await.text().contains("Sign in to"));
    // The visitor creates an account instead of signing in, and then returns to the request.
    let fields = [("email", "ada@example.com"), ("password", "correct horse battery"), ("action", "password")];
    let created = browser.submit("sign-up", &back, &fields).await;
    let onward = created.header("location").unwrap().to_owned();
    assert!(onward.contains("/handler/authorize?") && onward.ends_with("onward=1"), "{onward}");
    let consent = browser.open("authorize", &[("request", &request), ("onward", "1")]).await;
    let page = consent.text();
    for part in ["Notes", "notes.example.com", "See your email address", "Stay signed in", "ada@example.com"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("See your name"), "only what was asked for");
    let policy = consent.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self' https://notes.example.com") && policy.contains("frame-ancestors 'none'"), "{policy}");
    let allowed = browser.submit("authorize", &[("request", &request)], &[("action", "allow")]).await;
    let location = allowed.header("location").unwrap().to_owned();
    let answer = query_of(&location);
    assert!(location.starts_with("https://notes.example.com/cb?code="), "{location}");
    assert_eq!((answer["state"].as_str(), answer["iss"].as_str(), answer.len()), ("s t&te", rp.issuer().as_str(), 3));

    let redeemed = rp.redeem(&answer["code"]).await;
    assert_eq!((redeemed.status(), redeemed.header("cache-control")), (200, Some("no-store")), "{}", redeemed.text());
    let tokens = redeemed.json();
    assert_eq!((&tokens["token_type"], &tokens["scope"]), (&json!("Bearer"), &json!("openid email offline_access")));
    assert_eq!(tokens["expires_in"], json!(app.app.settings.access_token_life.as_secs()));
    let id = claims(&tokens["id_token"]);
    let now = app.now().as_second();
    let user = text(&id["sub"]);
    let expected = json!({
        "iss": rp.issuer(), "sub": user, "aud": rp.id, "azp": rp.id, "iat": now, "exp": now + tokens["expires_in"].as_i64().unwrap(),
        "auth_time": now, "nonce": "n-1", "acr": "urn:gatelet:1fa", "amr": ["pwd"], "sid": id["sid"], "at_hash": id["at_hash"],
        "email": "ada@example.com", "email_verified": false,
    });
    assert_eq!(id, expected);
    assert_eq!((&header(&tokens["id_token"])["typ"], &header(&tokens["access_token"])["typ"]), (&json!("JWT"), &json!("at+jwt")));
    is_access_token_of(&rp, &tokens["access_token"], &id);
    let info = rp.userinfo(&text(&tokens["access_token"])).await;
    assert_eq!(info.json(), json!({ "sub": user, "email": "ada@example.com", "email_verified": false }), "{}", info.status());
}

/// Asserts that an access token was issued for the client, and that it matches its ID token.
fn is_access_token_of(rp: &RelyingParty<'_>, token: &Value, id: &Value) {
    let access = claims(token);
    for (claim, value) in [
        ("iss", json!(rp.issuer())),
        ("sub", id["sub"].clone()),
        ("aud", json!(format!("{}/oauth2/userinfo", rp.issuer()))),
        ("client_id", json!(rp.id)),
        ("scope", json!("openid email offline_access")),
        ("sid", id["sid"].clone()),
        ("refresh_token_id", id["sid"].clone()),
        ("auth_time", id["auth_time"].clone()),
        ("amr", json!(["pwd"])),
        ("acr", json!("urn:gatelet:1fa")),
        ("email", json!("ada@example.com")),
        ("name", Value::Null),
    ] {
        assert_eq!(access[claim], value, "{claim}");
    }
    assert!(access["jti"].is_string());
}

#[tokio::test]
async fn consent_is_remembered_for_the_same_scopes_and_asked_for_more() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    rp.code(&browser, &[]).await;
    for (changes, asked) in [
        (&[][..], false),
        (&[("scope", "openid")][..], false),
        (&[("scope", "openid profile")][..], true),
        (&[("prompt", "consent")][..], true),
    ] {
        let page = rp.page(&browser, changes).await;
        assert_eq!(page.status() == 200, asked, "{changes:?}: {}", page.text());
    }
    // Two grants of a user to the same client are merged.
    rp.code(&browser, &[("scope", "openid profile")]).await;
    assert_eq!(rp.page(&browser, &[("scope", "openid profile email")]).await.status(), 303);
}

#[tokio::test]
async fn a_client_of_the_project_itself_needs_no_consent_and_may_use_the_api() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    assert_eq!(rp.page(&browser, &[]).await.status(), 303);
    let tokens = rp.tokens(&browser).await;
    let access = claims(&tokens["access_token"]);
    assert_eq!(access["aud"], json!(app.project_id()));
    let me = app.client().with("x-service-access-token", &text(&tokens["access_token"])).get("/api/v1/users/me").await;
    assert_eq!((me.status(), &me.json()["id"]), (200, &access["sub"]), "{}", me.text());
    // The client's session is listed among the user's sessions, and ends with the user's session.
    let sessions = app.server().get(&format!("/api/v1/auth/sessions?user_id={}", text(&access["sub"]))).await.json();
    let of_client = sessions["items"].as_array().unwrap().iter().find(|session| session["client_name"] == "Notes").unwrap().clone();
    assert_eq!(of_client["id"], access["sid"]);
    let path = format!("/api/v1/auth/sessions/{}?user_id={}", text(&of_client["id"]), text(&access["sub"]));
    assert_eq!(app.server().delete(&path).await.status(), 200);
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401);
}

#[tokio::test]
async fn a_public_client_on_the_users_own_machine_asks_every_time() {
    let app = TestApp::start().await;
    let settings = json!({ "client_type": "public", "is_first_party": true, "redirect_uris": ["http://127.0.0.1/cb"] });
    let mut rp = RelyingParty::with(&app, settings).await;
    let browser = signed_in(&app, "ada@example.com").await;
    rp.redirect_uri = "http://127.0.0.1:51004/cb".to_owned();
    for _ in 0..2 {
        let page = rp.page(&browser, &[]).await;
        assert!(page.status() == 200 && page.text().contains("a program on your own device"), "{}", page.text());
        assert!(rp.tokens(&browser).await["id_token"].is_string());
    }
    let silent = rp.page(&browser, &[("prompt", "none")]).await;
    assert_eq!(query_of(silent.header("location").unwrap())["error"], "consent_required");
}

#[tokio::test]
async fn prompts_are_followed() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = Browser::new(&app);
    let error = async |browser: &Browser<'_>, changes: &[(&str, &str)]| {
        let answer = rp.page(browser, changes).await;
        query_of(answer.header("location").unwrap_or_default()).remove("error")
    };
    assert_eq!(error(&browser, &[("prompt", "none")]).await.as_deref(), Some("login_required"));
    let create = rp.page(&browser, &[("prompt", "create")]).await;
    assert!(create.header("location").unwrap().contains("/handler/sign-up?"));
    sign_up(&browser, "ada@example.com").await;
    assert_eq!(error(&browser, &[("prompt", "none")]).await.as_deref(), Some("consent_required"));
    rp.code(&browser, &[]).await;
    app.advance(jiff::SignedDuration::from_secs(30));
    assert_eq!(error(&browser, &[("prompt", "none")]).await, None);
    assert_eq!(error(&browser, &[("prompt", "none"), ("max_age", "10")]).await.as_deref(), Some("login_required"));
    let again = rp.request(&browser, &[("prompt", "login")]).await;
    let to_sign_in = browser.open("authorize", &[("request", &again)]).await;
    let location = to_sign_in.header("location").unwrap().to_owned();
    let query = query_of(&location);
    assert_eq!(query["another_account"], "1");
    let back = [("after_auth_return_to", query["after_auth_return_to"].as_str()), ("another_account", "1")];
    assert!(!browser.open("sign-in", &back).await.text().contains("Continue as"));
    // Continuing as the same user is not a new sign-in.
    browser.submit("sign-in", &back, &[("action", "continue")]).await;
    assert!(browser.open("authorize", &[("request", &again)]).await.header("location").unwrap().contains("/handler/sign-in?"));
    let fields = [("email", "ada@example.com"), ("password", "correct horse battery"), ("action", "password")];
    assert_eq!(browser.submit("sign-in", &back, &fields).await.status(), 303);
    let done = browser.open("authorize", &[("request", &again)]).await;
    assert!(done.header("location").unwrap().starts_with("https://notes.example.com/cb?code="));
    app.advance(jiff::SignedDuration::from_secs(30));
    let choose = rp.request(&browser, &[("prompt", "select_account")]).await;
    let page = browser.open("authorize", &[("request", &choose)]).await;
    assert!(page.text().contains("Which account") && page.text().contains("Continue as"), "{}", page.text());
    let chosen = browser.submit("authorize", &[("request", &choose)], &[("action", "continue")]).await;
    assert!(chosen.header("location").unwrap().starts_with("https://notes.example.com/cb?code="));
}

#[tokio::test]
async fn the_answer_can_be_a_form() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let page = rp.page(&browser, &[("response_mode", "form_post")]).await;
    let text = page.text();
    assert!(text.contains("action=\"https:&#x2f;&#x2f;notes.example.com&#x2f;cb\""), "{text}");
    assert!(
        text.contains("name=\"code\"") && text.contains("name=\"state\" value=\"s t&amp;te\"") && text.contains("name=\"iss\""),
        "{text}"
    );
    assert!(page.header("content-security-policy").unwrap().contains("https://notes.example.com"));
    let refused = rp.page(&Browser::new(&app), &[("response_mode", "form_post"), ("prompt", "none")]).await;
    assert!(refused.text().contains("name=\"error\" value=\"login_required\""), "{}", refused.text());
}

#[tokio::test]
async fn a_user_who_refuses_is_sent_back_with_the_reason() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let request = rp.request(&browser, &[]).await;
    let page = browser.open("authorize", &[("request", &request)]).await;
    assert!(!form_token(&page).is_empty());
    let denied = browser.submit("authorize", &[("request", &request)], &[("action", "deny")]).await;
    let answer = query_of(denied.header("location").unwrap());
    assert_eq!(
        (answer["error"].as_str(), answer["state"].as_str(), answer["iss"].as_str()),
        ("access_denied", "s t&te", rp.issuer().as_str())
    );
    assert_eq!(rp.page(&browser, &[]).await.status(), 200, "nothing was granted");
}

#[tokio::test]
async fn a_client_can_admit_only_some_users() {
    let app = TestApp::start().await;
    let browser = signed_in(&app, "ada@example.com").await;
    let open = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let user = text(&claims(&open.tokens(&browser).await["id_token"])["sub"]);
    let team = text(&app.server().post("/api/v1/teams", json!({ "display_name": "Staff" })).await.json()["id"]);
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true, "allowed_team_ids": [team] })).await;
    let error = query_of(rp.page(&browser, &[]).await.header("location").unwrap()).remove("error");
    assert_eq!(error.as_deref(), Some("access_denied"));
    assert_eq!(app.server().post(&format!("/api/v1/team-memberships/{team}/{user}"), json!({})).await.status(), 201);
    assert!(rp.page(&browser, &[]).await.header("location").unwrap().contains("code="));
    app.admin().post("/api/v1/project-permission-definitions", json!({ "id": "reads_notes" })).await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true, "allowed_permission_id": "reads_notes" })).await;
    assert!(rp.page(&browser, &[]).await.header("location").unwrap().contains("error=access_denied"));
    let granted = app.server().post(&format!("/api/v1/project-permissions/{user}/reads_notes"), json!({})).await;
    assert!(granted.status() < 300, "{}", granted.text());
    assert!(rp.page(&browser, &[]).await.header("location").unwrap().contains("code="));
}

#[tokio::test]
async fn tokens_can_be_signed_with_rsa() {
    let app = TestApp::start().await;
    assert_eq!(app.admin().post("/api/v1/internal/signing-keys", json!({})).await.status(), 201);
    let rp = RelyingParty::with(&app, json!({ "signing_algorithm": "RS256" })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    let keys = app.anonymous().get(&format!("/api/v1/projects/{}/.well-known/jwks.json", app.project_id())).await.json();
    for token in ["id_token", "access_token"] {
        let header = header(&tokens[token]);
        assert_eq!(header["alg"], "RS256");
        assert!(keys["keys"].as_array().unwrap().iter().any(|key| key["kid"] == header["kid"] && key["alg"] == "RS256"));
    }
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 200);
    // The new process has not read the key yet.
    let again = RelyingParty { app: &app.redeployed(|_| {}), id: rp.id.clone(), secret: None, redirect_uri: String::new() }
        .userinfo(&text(&tokens["access_token"]))
        .await
        .status();
    assert_eq!(again, 200);
}

#[tokio::test]
async fn userinfo_has_what_the_scopes_permit() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let all = rp.redeem(&rp.code(&browser, &[("scope", "openid profile email teams permissions")]).await).await.json();
    let token = text(&all["access_token"]);
    let info = rp.userinfo(&token).await.json();
    assert_eq!((&info["teams"], &info["permissions"], &info["signed_up_at"]), (&json!([]), &json!([]), &json!(app.now().as_second())));
    assert!(all.get("refresh_token").is_none(), "without offline_access");
    let path = rp.endpoint("userinfo");
    let post = app.anonymous().request("POST", &path).header("authorization", &format!("Bearer {token}")).form(&[]).send().await;
    assert_eq!(post.json(), info);
    let plain = rp.redeem(&rp.code(&browser, &[("scope", "email")]).await).await.json();
    assert!(plain.get("id_token").is_none());
    let refused = rp.userinfo(&text(&plain["access_token"])).await;
    assert_eq!(
        (refused.status(), refused.header("www-authenticate")),
        (403, Some("Bearer error=\"insufficient_scope\", scope=\"openid\""))
    );
    let missing = app.anonymous().get(&path).await;
    assert_eq!((missing.status(), missing.header("www-authenticate")), (401, Some("Bearer")));
    let forged = rp.userinfo(&format!("{token}x")).await;
    assert_eq!((forged.status(), forged.header("www-authenticate")), (401, Some("Bearer error=\"invalid_token\"")));
}

/// Only the user who is named in the hint may sign in (OpenID Connect Core §3.1.2.1).
#[tokio::test]
async fn a_hint_of_another_user_asks_for_that_user() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let (ada, bob) = (signed_in(&app, "ada@example.com").await, signed_in(&app, "bob@example.com").await);
    let of_ada = text(&rp.tokens(&ada).await["id_token"]);
    let silent = async |browser: &Browser<'_>, hint: &str| {
        let answer = rp.authorize(browser, &[("prompt", "none"), ("id_token_hint", hint)]).await;
        let mut query = query_of(answer.header("location").unwrap());
        if let Some(request) = query.remove("request") {
            query = query_of(browser.open("authorize", &[("request", &request)]).await.header("location").unwrap());
        }
        query.remove("error")
    };
    assert_eq!(silent(&ada, &of_ada).await, None);
    assert_eq!(silent(&bob, &of_ada).await.as_deref(), Some("login_required"));
    assert_eq!(silent(&ada, "nonsense").await.as_deref(), Some("invalid_request"));
    let other = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let of_other = text(&other.tokens(&ada).await["id_token"]);
    assert_eq!(silent(&ada, &of_other).await.as_deref(), Some("invalid_request"), "an ID token of another client");
}
