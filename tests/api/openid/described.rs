//! Clients that describe themselves in a metadata document.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderName, HeaderValue, StatusCode};
use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Answer, TestApp};
use tokio::task::JoinHandle;

use super::{CLIENTS, REDIRECT, RelyingParty, assert_error, claims, signed_in, text};
use crate::hosted::{Browser, query_of};

const AUTHORIZATIONS: &str = "/api/v1/auth/oauth2/authorizations";

/// A site with the metadata document of a client.
struct Site {
    url: String,
    answer: Arc<Mutex<Document>>,
    reads: Arc<AtomicUsize>,
    server: JoinHandle<()>,
}

#[derive(Clone)]
struct Document {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: String,
}

impl Site {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/client.json", listener.local_addr().unwrap());
        let answer = Arc::new(Mutex::new(Document { status: StatusCode::OK, headers: Vec::new(), body: String::new() }));
        let reads = Arc::new(AtomicUsize::new(0));
        let serve = async |State((answer, reads)): State<(Arc<Mutex<Document>>, Arc<AtomicUsize>)>| -> Response {
            reads.fetch_add(1, Ordering::SeqCst);
            let Document { status, headers, body } = answer.lock().unwrap().clone();
            (status, http::HeaderMap::from_iter(headers), body).into_response()
        };
        let router = Router::new().fallback(serve).with_state((Arc::clone(&answer), Arc::clone(&reads)));
        let server = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let site = Self { url, answer, reads, server };
        site.describes(&json!({}));
        site
    }

    /// Changes the document.
    fn describes(&self, changes: &Value) {
        let mut body = json!({ "client_id": self.url, "client_name": "Notes", "redirect_uris": [REDIRECT] });
        body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        self.answer.lock().unwrap().body = body.to_string();
    }

    fn header(&self, name: &'static str, value: &'static str) {
        self.answer.lock().unwrap().headers.push((HeaderName::from_static(name), HeaderValue::from_static(value)));
    }

    fn reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    fn client<'a>(&self, app: &'a TestApp) -> RelyingParty<'a> {
        RelyingParty { app, id: self.url.clone(), secret: None, redirect_uri: REDIRECT.to_owned() }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.server.abort();
    }
}

pub(super) async fn permit(app: &TestApp, settings: Value) {
    let changed = app.admin().patch("/api/v1/internal/projects/current", json!({ "config": settings })).await;
    assert_eq!(changed.status(), 200, "{}", changed.text());
}

async fn with_documents() -> TestApp {
    let app = TestApp::start().await;
    permit(&app, json!({ "oauth_client_documents_enabled": true })).await;
    app
}

#[tokio::test]
async fn the_url_of_a_document_is_the_name_of_a_client() {
    let app = with_documents().await;
    let site = Site::start().await;
    let rp = site.client(&app);
    let browser = signed_in(&app, "ada@example.com").await;
    let page = rp.page(&browser, &[]).await.text().to_owned();
    let host = site.url.split('/').nth(2).unwrap();
    for part in ["Notes", "notes.example.com", host] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let tokens = rp.tokens(&browser).await;
    let (access, id) = (claims(&tokens["access_token"]), claims(&tokens["id_token"]));
    assert_eq!((&access["client_id"], &id["aud"], &id["azp"]), (&json!(site.url), &json!(site.url), &json!(site.url)));
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 200);
    let refreshed = rp.refresh(&text(&tokens["refresh_token"])).await;
    assert_eq!(refreshed.status(), 200, "{}", refreshed.text());
    assert_eq!(rp.page(&browser, &[]).await.status(), 200, "the redirect URI is not on the host of the document");
    assert_eq!(site.reads(), 1, "the document is still fresh");
    let listed = app.admin().get(CLIENTS).await.json();
    let (source, url) = (&listed["items"][0]["source"], &listed["items"][0]["metadata_url"]);
    assert_eq!((source, url), (&json!("document"), &json!(site.url)));
}

#[tokio::test]
async fn a_client_that_describes_itself_learns_nothing_before_the_user_decides() {
    let app = with_documents().await;
    let created = app.admin().post("/api/v1/internal/oauth-resources", json!({ "identifier": "https://a.example", "name": "A" })).await;
    let site = Site::start().await;
    let rp = site.client(&app);
    for browser in [Browser::new(&app), signed_in(&app, "ada@example.com").await] {
        for changes in [("prompt", "none"), ("response_type", "token"), ("resource", "https://b.example"), ("scope", "a\tb")] {
            let answer = rp.authorize(&browser, &[changes]).await;
            assert_eq!((answer.status(), answer.header("location")), (400, None), "{changes:?}");
        }
    }
    // The resource is deleted while the user looks at the page.
    let browser = signed_in(&app, "grace@example.com").await;
    let request = rp.request(&browser, &[("resource", "https://a.example")]).await;
    let path = format!("/api/v1/internal/oauth-resources/{}", text(&created.json()["id"]));
    assert_eq!(app.admin().delete(&path).await.status(), 200);
    let answer = browser.open("authorize", &[("request", &request)]).await;
    assert_eq!((answer.status(), answer.header("location")), (400, None), "{}", answer.text());
    // The refusal of the user is an answer.
    let request = rp.request(&browser, &[]).await;
    let denied = browser.submit("authorize", &[("request", &request)], &[("action", "deny")]).await;
    assert_eq!(query_of(denied.header("location").unwrap())["error"], "access_denied");
}

#[tokio::test]
async fn such_a_client_sends_nobody_away_after_a_sign_out_without_a_proof() {
    let app = with_documents().await;
    let site = Site::start().await;
    site.describes(&json!({ "post_logout_redirect_uris": ["https://phish.example/"] }));
    let rp = site.client(&app);
    let browser = signed_in(&app, "ada@example.com").await;
    let tokens = rp.tokens(&browser).await;
    let end = async |fields: &[(&str, &str)]| {
        let parameters = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        app.client().post("/api/v1/auth/oauth2/logouts", json!({ "parameters": parameters })).await
    };
    let to = ("post_logout_redirect_uri", "https://phish.example/");
    assert_eq!(end(&[("client_id", &rp.id), to]).await.status(), 400);
    let proved = end(&[("id_token_hint", tokens["id_token"].as_str().unwrap()), to]).await;
    assert_eq!(proved.json()["redirect_url"], "https://phish.example/", "{}", proved.text());
}

#[tokio::test]
async fn a_document_is_used_for_a_minute_to_an_hour_and_never_stale() {
    let app = with_documents().await;
    let site = Site::start().await;
    let rp = site.client(&app);
    let browser = Browser::new(&app);
    for (advance, reads) in [(0, 1), (59, 1), (1, 2)] {
        app.advance(SignedDuration::from_secs(advance));
        rp.request(&browser, &[]).await;
        assert_eq!(site.reads(), reads, "after {advance} s more");
    }
    site.header("cache-control", "max-age=86400");
    app.advance(SignedDuration::from_mins(1));
    for (advance, reads) in [(0, 3), (59, 3), (1, 4)] {
        app.advance(SignedDuration::from_mins(advance));
        rp.request(&browser, &[]).await;
        assert_eq!(site.reads(), reads, "after {advance} min more");
    }
    // A redirect URI that the document no longer contains is refused, and so is a document that
    // cannot be read any more.
    app.advance(SignedDuration::from_hours(1));
    site.describes(&json!({ "redirect_uris": ["https://notes.example.com/other"] }));
    assert_eq!(rp.authorize(&browser, &[]).await.status(), 400);
    app.advance(SignedDuration::from_hours(1));
    site.answer.lock().unwrap().status = StatusCode::NOT_FOUND;
    let answer = rp.authorize(&browser, &[]).await;
    assert_eq!((answer.status(), answer.header("location")), (400, None));
    assert!(answer.text().contains("does not answer with status 200"), "{}", answer.text());
}

#[tokio::test]
async fn many_requests_at_once_fetch_a_document_once_and_a_failure_is_kept_for_a_minute() {
    let app = with_documents().await;
    let site = Site::start().await;
    let rp = site.client(&app);
    let browsers: Vec<_> = std::iter::repeat_with(|| Browser::new(&app)).take(100).collect();
    let answers = futures_util::future::join_all(browsers.iter().map(|browser| rp.authorize(browser, &[]))).await;
    assert!(answers.iter().all(|answer| answer.status() == 303), "{:?}", answers.iter().map(Answer::status).collect::<Vec<_>>());
    assert_eq!(site.reads(), 1);
    let broken = Site::start().await;
    broken.answer.lock().unwrap().body = "{".to_owned();
    let rp = broken.client(&app);
    let answers = futures_util::future::join_all(browsers.iter().take(20).map(|browser| rp.authorize(browser, &[]))).await;
    assert!(answers.iter().all(|answer| answer.status() == 400 && answer.text().contains("not JSON")));
    assert_eq!(broken.reads(), 1);
    broken.describes(&json!({}));
    app.advance(SignedDuration::from_secs(60));
    rp.request(&browsers[0], &[]).await;
}

#[tokio::test]
async fn a_document_that_could_harm_is_refused() {
    let app = with_documents().await;
    let browser = Browser::new(&app);
    for changes in [
        json!({ "client_id": "https://notes.example.com/client.json" }),
        json!({ "client_secret": "x" }),
        json!({ "token_endpoint_auth_method": "client_secret_basic" }),
        json!({ "redirect_uris": ["javascript:alert(1)"] }),
        json!({ "client_name": 1 }),
        json!({ "padding": "x".repeat(5 * 1024) }),
        json!({ "redirect_uris": [format!("https://notes.example.com/{}", "a".repeat(2049))] }),
    ] {
        let site = Site::start().await;
        site.describes(&changes);
        let answer = site.client(&app).authorize(&browser, &[]).await;
        assert_eq!((answer.status(), answer.header("location")), (400, None), "{changes}");
    }
    let site = Site::start().await;
    site.answer.lock().unwrap().status = StatusCode::FOUND;
    site.header("location", "https://notes.example.com/client.json");
    let answer = site.client(&app).authorize(&browser, &[]).await;
    assert!(answer.status() == 400 && answer.text().contains("redirects are not followed"), "{}", answer.text());
}

#[tokio::test]
async fn an_unknown_client_can_push_its_first_request() {
    let app = with_documents().await;
    let site = Site::start().await;
    let rp = site.client(&app);
    let pushed = super::pushed::push(&rp, &[]).await;
    assert_eq!(pushed.status(), 201, "{}", pushed.text());
    site.answer.lock().unwrap().status = StatusCode::NOT_FOUND;
    app.advance(SignedDuration::from_mins(1));
    let refused = super::pushed::push(&rp, &[]).await;
    assert_eq!((refused.status(), &refused.json()["error"]), (400, &json!("invalid_request")), "{}", refused.text());
}

#[tokio::test]
async fn an_apps_own_pages_and_posted_requests_accept_such_clients() {
    let app = with_documents().await;
    let ada = app.sign_up("ada@example.com").await;
    let [site, other] = [Site::start().await, Site::start().await];
    let rp = site.client(&app);
    let begun = app.client().post(AUTHORIZATIONS, json!({ "parameters": rp.parameters(&[]) })).await.json();
    let own = app.signed_in(&ada).with("x-stack-refresh-token", &ada.refresh_token);
    let decision = json!({ "request": begun["request"], "consent": "allow" });
    let done = own.post(&format!("{AUTHORIZATIONS}/complete"), decision).await.json();
    assert_eq!(done["client"]["document_host"], site.url.split('/').nth(2).unwrap());
    let code = query_of(done["redirection"]["url"].as_str().unwrap()).remove("code").unwrap();
    assert_eq!(rp.redeem(&code).await.status(), 200);
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(other.client(&app).parameters(&[]).as_bytes()).into_owned().collect();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let posted = app.anonymous().request("POST", &rp.endpoint("authorize")).form(&fields).send().await;
    assert!(posted.header("location").is_some_and(|location| location.contains("/handler/authorize?")), "{}", posted.text());
    assert_eq!(other.reads(), 1);
}

#[tokio::test]
async fn fetches_are_limited_by_the_callers_address_and_by_host() {
    let limits = Limits::off().with(Rule::OauthClientDocument, Some(Rate::new(2, 600)));
    let app = TestApp::start_with(limits).await;
    permit(&app, json!({ "oauth_client_documents_enabled": true })).await;
    let sites = [Site::start().await, Site::start().await, Site::start().await];
    let browser = Browser::new(&app);
    let statuses = [0, 1, 2, 2].map(|site: usize| sites[site].client(&app));
    let mut answers = Vec::new();
    for rp in &statuses {
        answers.push(rp.authorize(&browser, &[]).await.status());
    }
    assert_eq!(answers, [303, 303, 429, 429]);
    assert_eq!(sites[2].reads(), 0);
    // Known documents are not limited by address when they are fetched again.
    app.advance(SignedDuration::from_mins(1));
    assert_eq!(sites[0].client(&app).authorize(&browser, &[]).await.status(), 303);
    let limits = Limits::off().with(Rule::OauthClientDocumentHost, Some(Rate::new(1, 600)));
    let app = TestApp::start_with(limits).await;
    permit(&app, json!({ "oauth_client_documents_enabled": true })).await;
    let browser = Browser::new(&app);
    let [first, second] = [&sites[0], &sites[1]].map(|site| site.client(&app));
    assert_eq!(first.authorize(&browser, &[]).await.status(), 303);
    assert_eq!(second.authorize(&browser, &[]).await.status(), 429, "the same host");
    app.advance(SignedDuration::from_mins(1));
    assert_eq!(first.authorize(&browser, &[]).await.status(), 303, "nobody can lock out a known client");
    assert_eq!(sites[0].reads(), 4);
}

#[tokio::test]
async fn an_administrator_decides_which_documents_are_accepted() {
    let app = TestApp::start().await;
    let site = Site::start().await;
    let rp = site.client(&app);
    let browser = signed_in(&app, "ada@example.com").await;
    assert_eq!(rp.authorize(&browser, &[]).await.status(), 400, "off by default");
    permit(&app, json!({ "oauth_client_documents_enabled": true, "oauth_client_document_hosts": ["notes.example.com"] })).await;
    assert_eq!(rp.authorize(&browser, &[]).await.status(), 400, "another host");
    assert_eq!(site.reads(), 0);
    permit(&app, json!({ "oauth_client_document_hosts": ["127.0.0.1"] })).await;
    let tokens = rp.tokens(&browser).await;
    permit(&app, json!({ "oauth_client_document_hosts": ["notes.example.com"] })).await;
    assert_eq!(rp.userinfo(&text(&tokens["access_token"])).await.status(), 401);
    assert_eq!(rp.refresh(&text(&tokens["refresh_token"])).await.json()["error"], "invalid_client");
    for host in ["Notes.example.com", "https://a.example", "a.example/b", "", "a.example:1"] {
        let settings = json!({ "config": { "oauth_client_document_hosts": [host] } });
        assert_eq!(app.admin().patch("/api/v1/internal/projects/current", settings).await.status(), 400, "{host}");
    }
    // A block survives the next version of the document.
    permit(&app, json!({ "oauth_client_document_hosts": [] })).await;
    let client = app.admin().get(CLIENTS).await.json()["items"][0].clone();
    let path = format!("{CLIENTS}/{}", text(&client["id"]));
    assert_eq!(app.admin().patch(&path, json!({ "name": "Other" })).await.status(), 400, "the document names the client");
    assert_eq!(app.admin().patch(&path, json!({ "is_disabled": true })).await.status(), 200);
    app.advance(SignedDuration::from_hours(2));
    site.describes(&json!({ "client_name": "Trustworthy notes" }));
    assert_eq!(rp.authorize(&browser, &[]).await.status(), 400);
    assert_eq!(app.admin().get(&path).await.json()["is_disabled"], true);
    // Its next request would bring a deleted client back, with its grants and without the block.
    assert_error(&app.admin().delete(&path).await, 400, "OAUTH_CLIENT_NOT_DELETABLE");
}
