//! Pushed authorization requests (RFC 9126).

use jiff::SignedDuration;
use serde_json::json;
use support::{Answer, TestApp};

use super::{RelyingParty, signed_in, text};
use crate::hosted::{Browser, query_of};

pub(super) async fn push(rp: &RelyingParty<'_>, changes: &[(&str, &str)]) -> Answer {
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(rp.parameters(changes).as_bytes()).into_owned().collect();
    let secret = rp.secret.clone().unwrap_or_default();
    let fields = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain([("client_secret", secret.as_str())]);
    let fields: Vec<(&str, &str)> = fields.filter(|(_, value)| !value.is_empty()).collect();
    rp.app.anonymous().request("POST", &rp.endpoint("par")).form(&fields).send().await
}

/// Opens the authorization endpoint with a pushed request.
async fn open(rp: &RelyingParty<'_>, browser: &Browser<'_>, uri: &str) -> Answer {
    let query =
        url::form_urlencoded::Serializer::new(String::new()).extend_pairs([("client_id", rp.id.as_str()), ("request_uri", uri)]).finish();
    browser.get(&format!("{}?{query}", rp.endpoint("authorize"))).await
}

#[tokio::test]
async fn a_pushed_request_works_once_within_ninety_seconds() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let pushed = push(&rp, &[("ui_locales", "de")]).await;
    assert_eq!((pushed.status(), &pushed.json()["expires_in"]), (201, &json!(90)), "{}", pushed.text());
    let uri = text(&pushed.json()["request_uri"]);
    app.advance(SignedDuration::from_secs(89));
    let opened = open(&rp, &browser, &uri).await;
    let mut page = query_of(opened.header("location").unwrap());
    assert_eq!(page["ui_locales"], "de");
    let request = page.remove("request").unwrap();
    let allowed = browser.submit("authorize", &[("request", &request)], &[("action", "allow")]).await;
    let answer = query_of(allowed.header("location").unwrap());
    assert_eq!(answer["state"], "s t&te");
    assert_eq!(rp.redeem(&answer["code"]).await.status(), 200);
    let again = open(&rp, &browser, &uri).await;
    assert_eq!((again.status(), again.header("location")), (400, None));
    let late = text(&push(&rp, &[]).await.json()["request_uri"]);
    app.advance(SignedDuration::from_secs(90));
    assert_eq!(open(&rp, &browser, &late).await.status(), 400);
}

#[tokio::test]
async fn a_pushed_request_belongs_to_its_client_and_is_checked_at_once() {
    let app = TestApp::start().await;
    let (rp, other) = (RelyingParty::new(&app).await, RelyingParty::new(&app).await);
    let browser = signed_in(&app, "ada@example.com").await;
    let uri = text(&push(&rp, &[]).await.json()["request_uri"]);
    assert_eq!(open(&other, &browser, &uri).await.status(), 400, "another client");
    assert!(open(&rp, &browser, &uri).await.header("location").unwrap().contains("/handler/authorize?"), "still unused");
    for (changes, error) in [
        (&[("redirect_uri", "https://evil.example/cb")][..], "invalid_request"),
        (&[("code_challenge", "")], "invalid_request"),
        (&[("response_type", "token")], "unsupported_response_type"),
        (&[("request_uri", "urn:x")], "request_uri_not_supported"),
    ] {
        let answer = push(&rp, changes).await;
        assert_eq!((answer.status(), &answer.json()["error"]), (400, &json!(error)), "{changes:?}: {}", answer.text());
    }
    let wrong = RelyingParty { app: &app, id: rp.id.clone(), secret: Some("ocs_wrong".to_owned()), redirect_uri: rp.redirect_uri.clone() };
    assert_eq!(push(&wrong, &[]).await.json()["error"], "invalid_client");
}
