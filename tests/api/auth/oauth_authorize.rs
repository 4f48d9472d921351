//! `GET /api/v1/auth/oauth/authorize/{provider_id}`, which returns the URL that the user is
//! redirected to.

use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use support::provider::Provider;
use support::{API_URL, Answer, TestApp};
use url::Url;

use super::assert_error;
use crate::stored;

/// A service with a project that accepts GitHub, Google and a custom issuer.
pub(super) async fn start() -> TestApp {
    let app = TestApp::start().await;
    let provider = Provider::start().await;
    let issuer = provider.issuer.clone();
    // The provider must stay alive until the test ends.
    std::mem::forget(provider);
    let providers = json!([
        { "id": "github", "type": "standard", "client_id": "github-client", "client_secret": "github-secret" },
        { "id": "google", "client_id": "google-client", "client_secret": "google-secret" },
        { "id": "acme", "client_id": "acme-client", "client_secret": "acme-secret", "issuer": issuer,
          "authorization_endpoint": "https://id.acme.test/authorize?tenant=7" },
    ]);
    app.configure(json!({ "config": { "oauth_providers": providers } })).await;
    app
}

/// The parameters of a valid request.
pub(super) fn parameters(app: &TestApp) -> Vec<(&'static str, String)> {
    [
        ("client_id", app.project_id().as_str()),
        ("client_secret", app.keys.client.expose_secret()),
        ("redirect_uri", "http://localhost:3000/handler/callback#fragment"),
        ("scope", "legacy"),
        ("state", "the app's own state"),
        ("grant_type", "authorization_code"),
        ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        ("code_challenge_method", "S256"),
        ("response_type", "code"),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .to_vec()
}

/// The parameters of a valid request. Each of `others` replaces the parameter of the same name or
/// is added.
pub(crate) fn parameters_with(app: &TestApp, others: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    let mut parameters = parameters(app);
    for (name, value) in others {
        parameters.retain(|(known, _)| known != name);
        parameters.push((name, (*value).to_owned()));
    }
    parameters
}

pub(crate) async fn authorize(app: &TestApp, provider: &str, parameters: &[(&'static str, String)]) -> Answer {
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(parameters).finish();
    app.anonymous().get(&format!("/api/v1/auth/oauth/authorize/{provider}?{query}")).await
}

/// The URL that the operation returns in JSON mode.
async fn location(app: &TestApp, provider: &str, others: &[(&'static str, &str)]) -> Url {
    let mut parameters = parameters_with(app, others);
    parameters.push(("response_mode", "json".to_owned()));
    let answer = authorize(app, provider, &parameters).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    Url::parse(answer.json()["location"].as_str().unwrap()).unwrap()
}

fn value(url: &Url, name: &str) -> Option<String> {
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

#[tokio::test]
async fn the_user_is_redirected_to_the_provider_with_a_cookie_for_the_way_back() {
    let app = start().await;
    let answer = authorize(&app, "github", &parameters(&app)).await;
    assert_eq!((answer.status(), answer.text()), (307, ""));
    let url = Url::parse(answer.header("location").unwrap()).unwrap();
    assert!(url.as_str().starts_with("https://github.com/login/oauth/authorize?"), "{url}");
    let names: Vec<String> = url.query_pairs().map(|(name, _)| name.into_owned()).collect();
    let expected = ["client_id", "scope", "response_type", "redirect_uri", "code_challenge_method", "code_challenge", "state"];
    assert_eq!(names, expected);
    assert_eq!(value(&url, "client_id").as_deref(), Some("github-client"));
    assert_eq!(value(&url, "response_type").as_deref(), Some("code"));
    assert_eq!(value(&url, "redirect_uri"), Some(format!("{API_URL}/api/v1/auth/oauth/callback/github")));
    assert_eq!(value(&url, "code_challenge_method").as_deref(), Some("S256"));
    assert_eq!(value(&url, "code_challenge").unwrap().len(), 43);
    assert_ne!(
        value(&url, "code_challenge").as_deref(),
        Some("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
        "the service uses its own verifier"
    );

    let cookie = answer.header("set-cookie").unwrap();
    let mut parts = cookie.split("; ");
    let name = parts.next().unwrap().strip_suffix("=true").unwrap();
    assert!(name.starts_with("gatelet-oauth-inner-") && !name.contains(&value(&url, "state").unwrap()), "{cookie}");
    let attributes: Vec<&str> = parts.collect();
    for attribute in ["Path=/api/v1/auth/oauth/callback/", "Max-Age=3600", "HttpOnly"] {
        assert!(attributes.contains(&attribute), "{cookie}");
    }
    assert!(!url.as_str().contains("secret"), "{url}");
}

/// Any page can start flows in a visitor's browser, and the browser sends all cookies of the flows
/// to the callback.
#[tokio::test]
async fn the_cookies_that_a_browser_keeps_for_a_domain_fit_into_a_request() {
    let app = start().await;
    let begun = authorize(&app, "github", &parameters(&app)).await;
    let cookie = begun.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert!(180 * (cookie.len() + "; ".len()) < 9_000, "{cookie}");
}

#[tokio::test]
async fn in_json_mode_the_url_is_in_the_body_and_there_is_no_cookie() {
    let app = start().await;
    for name in ["response_mode", "stack_response_mode", "hexclave_response_mode"] {
        let answer = authorize(&app, "github", &parameters_with(&app, &[(name, "json")])).await;
        assert_eq!((answer.status(), answer.header("set-cookie"), answer.header("location")), (200, None, None), "{name}");
        assert_eq!(answer.json().as_object().unwrap().keys().collect::<Vec<_>>(), ["location"]);
        let redirect = authorize(&app, "github", &parameters_with(&app, &[(name, "redirect")])).await;
        assert_eq!(redirect.status(), 307, "{name}");
    }
    let both = [("hexclave_response_mode", "json"), ("stack_response_mode", "json")];
    assert_eq!(authorize(&app, "github", &parameters_with(&app, &both)).await.status(), 200);
}

#[tokio::test]
async fn every_flow_has_a_unique_state_and_challenge() {
    let app = start().await;
    let (first, second) = (location(&app, "github", &[]).await, location(&app, "github", &[]).await);
    for name in ["state", "code_challenge"] {
        assert_ne!(value(&first, name), value(&second, name));
    }
    assert_ne!(value(&first, "state").as_deref(), Some("the app's own state"));
}

#[tokio::test]
async fn an_openid_provider_gets_a_nonce_at_its_discovered_endpoint() {
    let app = start().await;
    let google = location(&app, "google", &[]).await;
    assert_eq!(value(&google, "nonce").unwrap().len(), 43);
    assert_eq!(value(&google, "scope").as_deref(), Some("openid email profile"));
    let acme = location(&app, "acme", &[]).await;
    assert!(acme.as_str().starts_with("https://id.acme.test/authorize?tenant=7&client_id=acme-client&"), "{acme}");
}

#[tokio::test]
async fn scopes_can_be_added_to_those_of_sign_in() {
    let app = start().await;
    let url = location(&app, "github", &[("provider_scope", "repo gist&admin=1")]).await;
    assert_eq!(value(&url, "scope").as_deref(), Some("user:email repo gist&admin=1"));
    assert_eq!(value(&url, "admin"), None);
}

#[tokio::test]
async fn linking_requires_a_user_token_and_sign_in_accepts_one() {
    let app = start().await;
    let ada = app.sign_up("ada@example.com").await;
    let visitor = stored::anonymous_user(&app).await;
    location(&app, "github", &[("type", "authenticate")]).await;
    location(&app, "github", &[("type", "authenticate"), ("token", "")]).await;
    location(&app, "github", &[("type", "authenticate"), ("token", &ada.access_token)]).await;
    location(&app, "github", &[("type", "authenticate"), ("token", &visitor.access_token)]).await;
    location(&app, "github", &[("type", "link"), ("token", &ada.access_token)]).await;
}

#[tokio::test]
async fn trusted_urls_and_parameters_of_other_versions_are_accepted() {
    let app = start().await;
    let domains =
        ["https://app.example.com", "stack-auth-mobile-oauth-url://", "com.example.app:/cb"].map(|domain| json!({ "domain": domain }));
    app.configure(json!({ "config": { "domains": domains } })).await;
    let others = [
        ("redirect_uri", "https://app.example.com/callback?x=1#y"),
        ("error_redirect_uri", "https://app.example.com/error"),
        ("error_redirect_url", "http://127.0.0.1:5173/error"),
        ("after_callback_redirect_url", "stack-auth-mobile-oauth-url://success"),
        ("bot_challenge_token", "token"),
        ("bot_challenge_phase", "visible"),
        ("bot_challenge_unavailable", "true"),
        ("of_a_later_version", "anything"),
        ("client_id", &format!("{}#main", app.project_id())),
    ];
    location(&app, "github", &others).await;
    for app_url in ["stack-auth-mobile-oauth-url://success", "com.example.app:/cb?x=1"] {
        location(&app, "github", &[("redirect_uri", app_url)]).await;
    }
}

/// Any app on a device can register any scheme.
#[tokio::test]
async fn a_scheme_of_a_native_app_is_not_trusted_unless_the_project_lists_it() {
    let app = start().await;
    for app_url in ["stack-auth-mobile-oauth-url://success", "com.example.app:/cb"] {
        for name in ["redirect_uri", "after_callback_redirect_url", "error_redirect_url"] {
            let answer = authorize(&app, "github", &parameters_with(&app, &[(name, app_url)])).await;
            assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED");
            assert!(answer.text().contains("config.domains"), "{}", answer.text());
        }
    }
    app.configure(json!({ "config": { "domains": [{ "domain": "com.example.app:/cb" }] } })).await;
    location(&app, "github", &[("redirect_uri", "com.example.app:/cb")]).await;
    for other in ["com.example.app:/other", "com.example.other:/cb", "stack-auth-mobile-oauth-url://success"] {
        let answer = authorize(&app, "github", &parameters_with(&app, &[("redirect_uri", other)])).await;
        assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED");
    }
    // Links in emails never open native apps.
    let reset = json!({ "email": "ada@example.com", "callback_url": "com.example.app:/cb" });
    let answer = app.client().post("/api/v1/auth/password/send-reset-code", reset).await;
    assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED");
}

#[tokio::test]
async fn the_client_key_is_optional_if_the_project_does_not_require_it() {
    let app = start().await;
    location(&app, "github", &[("client_secret", "__stack_public_client__")]).await;
    app.configure(json!({ "config": { "require_publishable_client_key": true } })).await;
    let without = parameters_with(&app, &[("client_secret", "__stack_public_client__")]);
    let details = assert_error(&authorize(&app, "github", &without).await, 401, "PUBLISHABLE_CLIENT_KEY_REQUIRED_FOR_PROJECT");
    assert_eq!(details, json!({ "project_id": app.project_id() }));
    location(&app, "github", &[]).await;
}

#[tokio::test]
async fn a_flow_that_cannot_be_stored_does_not_start() {
    let app = start().await;
    app.recorder.fail_write(0, "AccessDeniedException");
    let answer = authorize(&app, "github", &parameters(&app)).await;
    assert_eq!(assert_error(&answer, 500, "INTERNAL_ERROR"), Value::Null);
    assert_eq!((answer.header("location"), answer.header("set-cookie")), (None, None));
}
