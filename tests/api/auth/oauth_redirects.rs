//! Open redirects. Users, codes and errors are sent only to trusted domains, no matter how a URL is
//! spelled. Flows are checked at the start and again at the end, because the trusted domains may
//! have changed.

use model::project::redirect::RedirectUrl;
use serde_json::json;
use support::TestApp;
use support::provider::Provider;

use super::assert_error;
use super::oauth_authorize::{authorize, parameters_with};
use super::oauth_callback::{ada, begin, come_back, landed, parameter, start};

/// Untrusted URLs that resemble `https://app.example.com`, or that browsers and servers parse
/// differently.
const FOREIGN: [&str; 29] = [
    // User info before a host, and an encoded `@`.
    "https://app.example.com@evil.test/",
    "https://app.example.com:pw@evil.test/",
    "https://app.example.com%40evil.test/",
    "https://evil.test@app.example.com/",
    "https://app.example.com%2f@evil.test/",
    // Backslashes, and characters that browsers drop.
    "https://evil.test\\@app.example.com/",
    "https:\\\\evil.test\\app.example.com",
    "https://evil.test/\\app.example.com",
    "https://app.example.com\\.evil.test/",
    "https://app.exa\tmple.com.evil.test/",
    // Names and URLs that contain the trusted name, and its parent domain.
    "https://app.example.com.evil.test/",
    "https://evilapp.example.com/",
    "https://evil.test/app.example.com",
    "https://evil.test?https://app.example.com",
    "https://evil.test#https://app.example.com",
    "https://example.com/",
    // For certificates and cookies, browsers treat a name with a trailing dot as a different name.
    "https://app.example.com./",
    // Look-alikes: a Cyrillic `а`, the same name in Punycode, and the digit 1 in place of an `l`.
    "https://аpp.example.com/",
    "https://xn--pp-7kc.example.com/",
    "https://app.examp1e.com/",
    // Encoded hosts and separators.
    "https://app.example.com%2eevil.test/",
    "https://app%00.example.com/",
    "https://app.example.com%3a443@evil.test/",
    // Other schemes and ports, an IP address as a number, and a URL without a scheme.
    "http://app.example.com/",
    "https://app.example.com:8443/",
    "javascript://app.example.com/%0aalert(1)",
    "data:text/html,<script>location='https://app.example.com'</script>",
    "https://2130706433/",
    "//app.example.com/",
];

/// URLs of the app, in various spellings.
const OWN: [&str; 6] = [
    "https://app.example.com/cb",
    "HTTPS://APP.EXAMPLE.COM/cb",
    "https://app.example.com:443/cb?next=https://evil.test",
    "https://app.example.com/cb#fragment",
    "https://app.example.com/%2f%2fevil.test",
    "https://%61pp.example.com/cb",
];

async fn trust(app: &TestApp, provider: &Provider, domains: &[&str]) {
    let domains: Vec<_> = domains.iter().map(|domain| json!({ "domain": domain, "handler_path": "/handler" })).collect();
    app.configure(json!({ "config": { "allow_localhost": false, "domains": domains, "oauth_providers": [provider.setting()] } })).await;
}

#[tokio::test]
async fn a_flow_does_not_start_with_an_untrusted_url() {
    let (app, provider) = start().await;
    trust(&app, &provider, &["https://app.example.com"]).await;
    for name in ["redirect_uri", "error_redirect_uri", "error_redirect_url", "after_callback_redirect_url"] {
        for url in FOREIGN {
            let asked = parameters_with(&app, &[("redirect_uri", OWN[0]), (name, url)]);
            let answer = authorize(&app, "acme", &asked).await;
            assert_eq!(answer.status(), 400, "{name} {url}: {}", answer.text());
            assert!(["REDIRECT_URL_NOT_WHITELISTED", "SCHEMA_ERROR"].contains(&answer.code().as_str()), "{name} {url}: {}", answer.text());
            assert_eq!((answer.header("location"), answer.header("set-cookie")), (None, None), "{url}");
        }
        for url in OWN {
            let asked = parameters_with(&app, &[("redirect_uri", OWN[0]), (name, url)]);
            assert_eq!(authorize(&app, "acme", &asked).await.status(), 307, "{name} {url}");
        }
    }
}

/// Starts a flow with URLs of any domains, which the project trusts at the start.
async fn begin_trusting(app: &TestApp, provider: &Provider, others: &[(&'static str, &str)]) -> url::Url {
    let origins: Vec<String> = others
        .iter()
        .filter_map(|(_, url)| RedirectUrl::parse(url).ok())
        .map(|url| format!("{}://{}", url.url().scheme(), url.url().authority().rsplit('@').next().unwrap_or_default()))
        .collect();
    let origins: Vec<&str> = origins.iter().map(String::as_str).chain(["https://app.example.com"]).collect();
    trust(app, provider, &origins).await;
    begin(app, others).await
}

#[tokio::test]
async fn a_flow_does_not_end_at_a_url_that_is_no_longer_trusted() {
    let (app, provider) = start().await;
    // The flows start while the project trusts the URLs.
    let once: Vec<&str> = FOREIGN
        .into_iter()
        .filter(|url| RedirectUrl::parse(url).is_ok_and(|url| url.url().username().is_empty() && url.url().scheme().starts_with("http")))
        .collect();
    assert!(once.len() >= 12, "{once:?}");
    for url in once {
        let location = begin_trusting(&app, &provider, &[("redirect_uri", url), ("error_redirect_uri", url)]).await;
        trust(&app, &provider, &["https://app.example.com"]).await;
        let (code, state) = provider.allow(&app, &location, ada());
        let answer = come_back(&app, &code, &state).await;
        assert_error(&answer, 400, "REDIRECT_URL_NOT_WHITELISTED");
        assert_eq!(answer.header("location"), None, "{url}");
        assert_eq!(provider.requests().iter().filter(|path| *path == "token").count(), 0, "the provider's code was exchanged");
    }
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"], json!([]));
}

#[tokio::test]
async fn errors_redirect_to_the_trusted_page() {
    let (app, provider) = start().await;
    let others = [("redirect_uri", "https://evil.test/cb"), ("error_redirect_uri", "https://app.example.com/error?from=flow")];
    let location = begin_trusting(&app, &provider, &others).await;
    trust(&app, &provider, &["https://app.example.com"]).await;
    let (code, state) = provider.allow(&app, &location, ada());
    let url = landed(&come_back(&app, &code, &state).await);
    assert_eq!((url.host_str(), url.path()), (Some("app.example.com"), "/error"));
    assert_eq!((parameter(&url, "errorCode").as_str(), parameter(&url, "from").as_str()), ("REDIRECT_URL_NOT_WHITELISTED", "flow"));
}

#[tokio::test]
async fn exact_domains_and_wildcards_apply_at_both_ends_of_a_flow() {
    for (domain, inside, outside) in [
        ("https://app.example.com", "https://app.example.com/cb", "https://other.example.com/cb"),
        ("https://*.example.com", "https://any.example.com/cb", "https://two.labels.example.com/cb"),
        ("https://**.example.com", "https://two.labels.example.com/cb", "https://example.com.evil.test/cb"),
        ("https://pr-*.example.com:8443", "https://pr-7.example.com:8443/cb", "https://pr-7.example.com/cb"),
    ] {
        let (app, provider) = start().await;
        trust(&app, &provider, &[domain]).await;
        let refused = authorize(&app, "acme", &parameters_with(&app, &[("redirect_uri", outside)])).await;
        assert_error(&refused, 400, "REDIRECT_URL_NOT_WHITELISTED");
        let location = begin(&app, &[("redirect_uri", inside)]).await;
        let (code, state) = provider.allow(&app, &location, ada());
        assert!(landed(&come_back(&app, &code, &state).await).as_str().starts_with(&format!("{inside}?code=")), "{domain}");
        // The setting changes while the user is at the provider.
        let location = begin(&app, &[("redirect_uri", inside)]).await;
        trust(&app, &provider, &["https://elsewhere.example"]).await;
        let (code, state) = provider.allow(&app, &location, ada());
        assert_error(&come_back(&app, &code, &state).await, 400, "REDIRECT_URL_NOT_WHITELISTED");
    }
}
