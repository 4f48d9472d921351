//! Attacks on signing in to a client.

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

use super::{RelyingParty, VERIFIER, claims, signed_in, text};
use crate::hosted::{Browser, query_of};

/// Code injection (RFC 9700 §4.5). A stolen code is useless without the verifier.
#[tokio::test]
async fn a_stolen_code_cannot_be_redeemed_elsewhere() {
    let app = TestApp::start().await;
    let (rp, evil) = (RelyingParty::new(&app).await, RelyingParty::new(&app).await);
    let browser = signed_in(&app, "ada@example.com").await;
    let code = rp.code(&browser, &[]).await;
    let fields = |verifier: &'static str, uri: &'static str| {
        [("grant_type", "authorization_code"), ("code", code.as_str()), ("redirect_uri", uri), ("code_verifier", verifier)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
    };
    let send = async |rp: &RelyingParty<'_>, fields: [(String, String); 4]| {
        let fields = fields.each_ref().map(|(name, value)| (name.as_str(), value.as_str()));
        rp.token(&fields).await.json()["error"].clone()
    };
    assert_eq!(send(&evil, fields(VERIFIER, super::REDIRECT)).await, "invalid_grant", "another client");
    assert_eq!(send(&rp, fields("another-verifier-of-more-than-forty-three-characters", super::REDIRECT)).await, "invalid_grant");
    assert_eq!(send(&rp, fields("", super::REDIRECT)).await, "invalid_grant", "PKCE downgrade");
    assert_eq!(send(&rp, fields(VERIFIER, "https://notes.example.com/other")).await, "invalid_grant");
    assert_eq!(send(&rp, fields(VERIFIER, "")).await, "invalid_grant");
    let app_token = [
        ("grant_type", "authorization_code"),
        ("client_id", app.project_id().as_str()),
        ("code", &code),
        ("redirect_uri", super::REDIRECT),
        ("code_verifier", VERIFIER),
    ];
    for path in ["/api/v1/auth/oauth/token".to_owned(), rp.endpoint("token")] {
        let answer = app.anonymous().request("POST", &path).form(&app_token).send().await;
        assert_eq!(answer.json()["error"], "invalid_grant", "the project itself is another client");
    }
    assert_eq!(rp.redeem(&code).await.status(), 200, "none of this has used the code up");
}

#[tokio::test]
async fn a_code_that_is_used_twice_ends_its_session() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let code = rp.code(&browser, &[]).await;
    let tokens = rp.redeem(&code).await.json();
    let refused = rp.redeem(&code).await;
    assert_eq!((refused.status(), &refused.json()["error"]), (400, &json!("invalid_grant")));
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401);
}

#[tokio::test]
async fn of_many_who_redeem_a_code_at_once_at_most_one_gets_tokens() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let code = rp.code(&browser, &[]).await;
    let answers = futures_util::future::join_all((0..8).map(|_| rp.redeem(&code))).await;
    assert!(answers.iter().filter(|answer| answer.status() == 200).count() <= 1);
    assert_eq!(rp.redeem(&code).await.json()["error"], "invalid_grant");
}

#[tokio::test]
async fn a_code_ends_after_a_minute_and_with_what_it_rests_on() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let user = text(&claims(&rp.tokens(&browser).await["access_token"])["sub"]);
    let late = rp.code(&browser, &[]).await;
    app.advance(SignedDuration::from_secs(60));
    assert_eq!(rp.redeem(&late).await.json()["error"], "invalid_grant");
    let grants = app.server().get(&format!("/api/v1/users/{user}/grants")).await.json();
    let of_grant = rp.code(&browser, &[]).await;
    app.server().delete(&format!("/api/v1/users/{user}/grants/{}", text(&grants["items"][0]["id"]))).await;
    assert_eq!(rp.redeem(&of_grant).await.json()["error"], "invalid_grant", "the grant has ended");
    let of_password = rp.code(&browser, &[]).await;
    app.server().patch(&format!("/api/v1/users/{user}"), json!({ "password": "a new and different one" })).await;
    assert_eq!(rp.redeem(&of_password).await.json()["error"], "invalid_grant", "the credentials have changed");
    let browser = signed_in(&app, "bob@example.com").await;
    let of_session = rp.code(&browser, &[]).await;
    browser.submit("sign-out", &[], &[("action", "sign-out")]).await;
    assert_eq!(rp.redeem(&of_session).await.json()["error"], "invalid_grant", "the user has signed out");
}

/// Audience confusion. The token of a stranger's client must not pass for a token of one of the
/// project's apps.
#[tokio::test]
async fn a_strangers_token_is_none_of_the_projects() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    for token in ["access_token", "id_token"] {
        let token = text(&tokens[token]);
        let caller = app.client().with("x-service-access-token", &token);
        assert_eq!(caller.get("/api/v1/users/me").await.code(), "UNPARSABLE_ACCESS_TOKEN");
        assert_eq!(caller.patch("/api/v1/users/me", json!({ "display_name": "Mallory" })).await.status(), 401);
        let server = app.anonymous().with("x-service-access-type", "server").with("x-service-project-id", app.project_id().as_str());
        assert!(server.with("x-service-access-token", &token).get("/api/v1/users").await.status() >= 400);
    }
    assert_ne!(claims(&tokens["access_token"])["aud"], json!(app.project_id()));
    assert_eq!(rp.userinfo(&text(&tokens["id_token"])).await.status(), 401, "an ID token is no access token");
    assert_eq!(rp.userinfo(&browser.access_token_of().await).await.status(), 401, "nor is one of the project's apps a client's");
    let other = app.another_project().await;
    let path = format!("/api/v1/projects/{}/oauth2/userinfo", other.project_id);
    let token = format!("Bearer {}", text(&tokens["access_token"]));
    assert_eq!(app.anonymous().request("GET", &path).header("authorization", &token).send().await.status(), 401);
}

/// Another site cannot give consent, because it does not have the form token.
#[tokio::test]
async fn another_site_cannot_consent() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let request = rp.request(&browser, &[]).await;
    let path = browser.path("authorize", &[("request", &request)]);
    for fields in [&[("action", "allow")][..], &[("action", "allow"), ("form_token", "guessed")]] {
        let answer = browser.post(&path, fields).await;
        assert_eq!((answer.status(), answer.header("location")), (403, None));
    }
    let other = signed_in(&app, "mallory@example.com").await;
    let token = crate::hosted::form_token(&other.get(&path).await);
    assert_eq!(browser.post(&path, &[("action", "allow"), ("form_token", &token)]).await.status(), 403, "a token of another browser");
    let page = browser.get(&path).await;
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert!(page.header("content-security-policy").unwrap().contains("frame-ancestors 'none'"));
}

/// `prompt=none` must not reveal to a stranger's client which user is signed in.
#[tokio::test]
async fn a_silent_request_tells_nothing_without_consent() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let answer = rp.page(&browser, &[("prompt", "none"), ("login_hint", "ada@example.com")]).await;
    let query = query_of(answer.header("location").unwrap());
    assert_eq!(query["error"], "consent_required");
    assert!(!format!("{query:?}").contains("ada@"), "{query:?}");
    let page = rp.authorize(&Browser::new(&app), &[("prompt", "none"), ("redirect_uri", "https://evil.example/")]).await;
    assert_eq!(page.status(), 400);
}

/// The request of one client cannot be completed for another client or by an impersonation.
#[tokio::test]
async fn an_impersonation_cannot_sign_in_to_a_client() {
    let app = TestApp::start().await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let user = text(&claims(&rp.tokens(&browser).await["access_token"])["sub"]);
    let session = app.admin().post("/api/v1/auth/sessions", json!({ "user_id": user, "is_impersonation": true })).await.json();
    let supporter = Browser::new(&app);
    supporter.set_cookie("session", &text(&session["refresh_token"]));
    let answer = rp.page(&supporter, &[]).await;
    assert!(answer.header("location").unwrap().contains("error=access_denied"), "{} {}", answer.status(), answer.text());
}

/// A client must not send its secret in two places at once (RFC 6749 §2.3).
#[tokio::test]
async fn a_client_authenticates_in_one_way() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let secret = rp.secret.clone().unwrap();
    let basic = |secret: &str| {
        use base64::Engine as _;
        format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(format!("{}:{secret}", rp.id)))
    };
    let send = async |header: &str, fields: &[(&str, &str)]| {
        let request = app.anonymous().request("POST", &rp.endpoint("token")).header("authorization", header);
        request.form(&[&[("grant_type", "refresh_token"), ("refresh_token", "x")], fields].concat()).send().await
    };
    assert_eq!(send(&basic(&secret), &[]).await.json()["error"], "invalid_grant");
    let both = send(&basic(&secret), &[("client_secret", &secret)]).await;
    assert_eq!((both.status(), &both.json()["error"]), (400, &json!("invalid_request")));
    let wrong = send(&basic("ocs_wrong"), &[]).await;
    assert_eq!((wrong.status(), &wrong.json()["error"]), (401, &json!("invalid_client")));
    assert!(wrong.header("www-authenticate").unwrap().starts_with("Basic "));
}
