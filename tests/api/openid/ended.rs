//! Clients introspect tokens, revoke tokens, and request sign-outs.

use jiff::SignedDuration;
use serde_json::json;
use support::{Answer, TestApp};

use super::{RelyingParty, claims, signed_in, text};
use crate::hosted::{Browser, query_of};

async fn send(rp: &RelyingParty<'_>, endpoint: &str, token: &str) -> Answer {
    let secret = rp.secret.clone().unwrap_or_default();
    let fields = [("client_id", rp.id.as_str()), ("client_secret", secret.as_str()), ("token", token)];
    let fields: Vec<(&str, &str)> = fields.into_iter().filter(|(_, value)| !value.is_empty()).collect();
    rp.app.anonymous().request("POST", &rp.endpoint(endpoint)).form(&fields).send().await
}

#[tokio::test]
async fn a_client_asks_about_its_own_tokens_only() {
    let app = TestApp::start().await;
    let (rp, other) = (RelyingParty::new(&app).await, RelyingParty::new(&app).await);
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    let access = claims(&tokens["access_token"]);
    let found = send(&rp, "introspect", &text(&tokens["access_token"])).await.json();
    let expected = json!({
        "active": true, "scope": "openid email offline_access", "client_id": rp.id, "sub": access["sub"], "iss": rp.issuer(),
        "aud": access["aud"], "sid": access["sid"], "token_type": "access_token", "exp": access["exp"],
    });
    assert_eq!(found, expected);
    assert_eq!(send(&rp, "introspect", &text(&tokens["refresh_token"])).await.json()["token_type"], "refresh_token");
    let inactive = json!({ "active": false });
    for token in [text(&tokens["id_token"]), browser.access_token_of().await, "nonsense".to_owned(), "a".repeat(116)] {
        assert_eq!(send(&rp, "introspect", &token).await.json(), inactive, "{token}");
    }
    for token in ["access_token", "refresh_token"] {
        assert_eq!(send(&other, "introspect", &text(&tokens[token])).await.json(), inactive, "another client's");
    }
    app.advance(SignedDuration::from_hours(1));
    assert_eq!(send(&rp, "introspect", &text(&tokens["access_token"])).await.json(), inactive, "expired");
    let public = RelyingParty::with(&app, json!({ "client_type": "public" })).await;
    assert_eq!(send(&public, "introspect", "x").await.json()["error"], "invalid_client");
}

#[tokio::test]
async fn a_revoked_token_ends_its_session() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    for revoked in ["refresh_token", "access_token"] {
        let (tokens, others) = (rp.tokens(&browser).await, rp.tokens(&browser).await);
        assert_eq!(send(&rp, "revoke", &text(&tokens[revoked])).await.status(), 200);
        assert_eq!(send(&rp, "revoke", &text(&tokens[revoked])).await.status(), 200, "as is an unknown token");
        assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
        assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401);
        assert_eq!(rp.refresh(&text(&others["refresh_token"])).await.status(), 200, "the client's other sessions go on");
    }
    let other = RelyingParty::new(&app).await;
    let tokens = rp.tokens(&browser).await;
    assert_eq!(send(&other, "revoke", &text(&tokens["refresh_token"])).await.status(), 200);
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.status(), 200, "another client ends nothing");
}

/// Sends a browser to the end-session endpoint, and returns the next page.
async fn sign_out(rp: &RelyingParty<'_>, browser: &Browser<'_>, parameters: &[(&str, &str)]) -> Answer {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    let sent = browser.get(&format!("{}?{query}", rp.endpoint("end-session"))).await;
    let query = query_of(sent.header("location").unwrap());
    let query: Vec<(&str, &str)> =
        query.iter().map(|(name, value)| (name.as_str(), value.as_str())).filter(|(name, _)| *name != "project_id").collect();
    browser.open("logout", &query).await
}

async fn leaving(app: &TestApp) -> RelyingParty<'_> {
    RelyingParty::with(app, json!({ "post_logout_redirect_uris": ["https://notes.example.com/bye"] })).await
}

#[tokio::test]
async fn a_client_signs_its_own_user_out() {
    let app = TestApp::start().await;
    let rp = leaving(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    app.advance(SignedDuration::from_hours(2));
    let hint = text(&tokens["id_token"]);
    let parameters = [("id_token_hint", hint.as_str()), ("post_logout_redirect_uri", "https://notes.example.com/bye"), ("state", "a b")];
    let page = sign_out(&rp, &browser, &parameters).await;
    assert!(page.text().contains("https:&#x2f;&#x2f;notes.example.com&#x2f;bye?state=a+b"), "{} {}", page.status(), page.text());
    assert_eq!(browser.cookie_of("session"), None);
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_grant");
    assert_eq!(rp.page(&browser, &[("prompt", "none")]).await.header("location").map(query_of).unwrap()["error"], "login_required");
    // Nobody is signed in any more, so the page does not ask for confirmation.
    assert!(sign_out(&rp, &browser, &parameters).await.text().contains("notes.example.com"));
}

/// Apache's module revokes its tokens before it sends the browser to this endpoint.
#[tokio::test]
async fn a_client_that_has_revoked_its_tokens_signs_its_user_out() {
    let app = TestApp::start().await;
    let rp = leaving(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    assert_eq!(send(&rp, "revoke", &text(&tokens["refresh_token"])).await.status(), 200);
    let hint = text(&tokens["id_token"]);
    let parameters = [("id_token_hint", hint.as_str()), ("post_logout_redirect_uri", "https://notes.example.com/bye")];
    let page = sign_out(&rp, &browser, &parameters).await;
    assert!(page.text().contains("notes.example.com") && browser.cookie_of("session").is_none(), "{}", page.text());
    // In a later session, the same token proves nothing.
    app.advance(SignedDuration::from_secs(1));
    let browser = Browser::new(&app);
    let fields = [("email", "ada@example.com"), ("password", "correct horse battery"), ("action", "password")];
    assert_eq!(browser.submit("sign-in", &[], &fields).await.status(), 303);
    let page = sign_out(&rp, &browser, &parameters).await;
    assert!(page.text().contains("value=\"sign-out\"") && browser.cookie_of("session").is_some(), "{}", page.text());
}

#[tokio::test]
async fn whoever_cannot_prove_the_session_has_to_ask() {
    let app = TestApp::start().await;
    let rp = leaving(&app).await;
    let (ada, bob) = (signed_in(&app, "ada@example.com").await, signed_in(&app, "bob@example.com").await);
    let of_bob = text(&rp.tokens(&bob).await["id_token"]);
    for parameters in [&[][..], &[("client_id", rp.id.as_str())], &[("id_token_hint", of_bob.as_str())]] {
        let page = sign_out(&rp, &ada, parameters).await;
        assert!(page.text().contains("value=\"sign-out\""), "{parameters:?}: {}", page.text());
        assert!(ada.cookie_of("session").is_some());
    }
    let parameters = [("client_id", rp.id.as_str()), ("post_logout_redirect_uri", "https://notes.example.com/bye")];
    let page = sign_out(&rp, &ada, &parameters).await;
    assert!(page.text().contains("Notes wants to sign you out here, too"), "{}", page.text());
    let stay = ada.submit("logout", &parameters, &[("action", "stay")]).await;
    assert!(stay.text().contains("notes.example.com") && ada.cookie_of("session").is_some());
    let left = ada.submit("logout", &parameters, &[("action", "sign-out")]).await;
    assert!(left.text().contains("notes.example.com") && ada.cookie_of("session").is_none(), "{}", left.text());
}

/// Open redirect. The URL must be one of the client's URLs.
#[tokio::test]
async fn after_the_sign_out_users_go_only_where_the_client_is() {
    let app = TestApp::start().await;
    let (rp, other) = (leaving(&app).await, RelyingParty::new(&app).await);
    let browser = signed_in(&app, "ada@example.com").await;
    let hint = text(&rp.tokens(&browser).await["id_token"]);
    for parameters in [
        &[("post_logout_redirect_uri", "https://evil.example/")][..],
        &[("post_logout_redirect_uri", "https://notes.example.com/bye")],
        &[("client_id", rp.id.as_str()), ("post_logout_redirect_uri", "https://evil.example/")],
        &[("client_id", rp.id.as_str()), ("post_logout_redirect_uri", super::REDIRECT)],
        &[("client_id", other.id.as_str()), ("id_token_hint", hint.as_str())],
        &[("id_token_hint", "nonsense")],
    ] {
        let page = sign_out(&rp, &browser, parameters).await;
        assert_eq!(page.status(), 400, "{parameters:?}: {}", page.text());
        assert!(!page.text().contains("evil.example") && browser.cookie_of("session").is_some(), "{parameters:?}");
    }
}
