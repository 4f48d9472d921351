//! The provider is down, slow, wrong or hostile. The app gets an error, and nothing is partly
//! created.

use serde_json::json;
use support::TestApp;
use support::provider::{Fault, Provider};

use super::assert_error;
use super::oauth_authorize::{authorize, parameters_with};
use super::oauth_callback::{ada, begin, error_of, flow, landed, sign_in, start};

async fn assert_nobody_signed_up(app: &TestApp) {
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"], json!([]));
}

#[tokio::test]
async fn a_failing_provider_creates_nothing() {
    use Fault::*;
    let (app, provider) = start().await;
    let faults = [
        (Down, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Silent, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Garbage, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Huge, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (RedirectsTokenRequest, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Refuses, "INVALID_AUTHORIZATION_CODE"),
        (RefusesClient, "OAUTH_PROVIDER_REFUSES_CLIENT"),
        (RefusesClientInHtml, "OAUTH_PROVIDER_REFUSES_CLIENT"),
        (NoIdToken, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (WrongNonce, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (WrongAudience, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (WrongIssuer, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Expired, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (ForgedSignature, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Unsigned, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
    ];
    for (fault, error) in faults {
        provider.misbehave(fault);
        assert_eq!(error_of(&flow(&app, &provider, ada(), &[]).await), error, "{fault:?}");
        assert_nobody_signed_up(&app).await;
    }
    provider.misbehave(OtherUserinfo);
    let mut account = ada();
    account["userinfo"] = true.into();
    assert_eq!(error_of(&flow(&app, &provider, account, &[]).await), "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    assert_nobody_signed_up(&app).await;
}

#[tokio::test]
async fn a_redirect_of_the_token_endpoint_is_not_followed() {
    let (app, provider) = start().await;
    provider.misbehave(Fault::RedirectsTokenRequest);
    flow(&app, &provider, ada(), &[]).await;
    assert_eq!(provider.requests().iter().filter(|path| *path == "token").count(), 1);
}

#[tokio::test]
async fn provider_errors_are_passed_to_the_app() {
    let (app, provider) = start().await;
    for (error, code) in [
        ("access_denied", "OAUTH_PROVIDER_ACCESS_DENIED"),
        ("login_required", "OAUTH_PROVIDER_ACCESS_DENIED"),
        ("temporarily_unavailable", "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
    ] {
        let (_, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
        let answer = app.anonymous().get(&format!("/api/v1/auth/oauth/callback/acme?error={error}&state={state}")).await;
        assert_eq!(error_of(&landed(&answer)), code);
    }
    let (_, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
    let answer = app.anonymous().get(&format!("/api/v1/auth/oauth/callback/acme?state={state}")).await;
    assert_eq!(error_of(&landed(&answer)), "INVALID_AUTHORIZATION_CODE");
}

#[tokio::test]
async fn keys_are_cached_and_refetched_after_a_rotation() {
    let (app, provider) = start().await;
    sign_in(&app, &provider, ada()).await;
    provider.requests();
    sign_in(&app, &provider, ada()).await;
    assert_eq!(provider.requests(), ["token"], "metadata and keys are cached");
    app.advance(jiff::SignedDuration::from_mins(1));
    provider.rotate_key();
    sign_in(&app, &provider, ada()).await;
    assert_eq!(provider.requests(), ["token", "jwks"], "an unknown key id makes the service fetch the keys");
}

#[tokio::test]
async fn an_invalid_document_of_an_issuer_is_not_kept() {
    let (app, provider) = start().await;
    provider.misbehave(Fault::Maintenance);
    let refused = authorize(&app, "acme", &parameters_with(&app, &[])).await;
    assert_error(&refused, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    provider.behave();
    let location = begin(&app, &[]).await;
    provider.misbehave(Fault::Maintenance);
    let (code, state) = provider.allow(&app, &location, ada());
    let url = landed(&super::oauth_callback::come_back(&app, &code, &state).await);
    assert_eq!(error_of(&url), "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    // The next flow works, without any wait.
    provider.behave();
    sign_in(&app, &provider, ada()).await;

    // Valid keys stay in use if a later fetch fails.
    app.advance(jiff::SignedDuration::from_mins(1));
    provider.misbehave(Fault::Maintenance);
    sign_in(&app, &provider, ada()).await;
}

#[tokio::test]
async fn an_unreachable_issuer_starts_no_flow() {
    let app = TestApp::start().await;
    let gone = Provider::start().await;
    let setting = gone.setting();
    drop(gone);
    app.configure(json!({ "config": { "oauth_providers": [setting] } })).await;
    let answer = authorize(&app, "acme", &parameters_with(&app, &[])).await;
    assert_error(&answer, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
}

#[tokio::test]
async fn an_untrusted_redirect_is_replaced_by_the_error_page() {
    let (app, provider) = start().await;
    let domains = |domains: serde_json::Value| json!({ "config": { "allow_localhost": false, "domains": domains } });
    app.configure(domains(json!([{ "domain": "https://app.example" }, { "domain": "https://errors.example" }]))).await;
    let parameters = [("redirect_uri", "https://app.example/x"), ("error_redirect_url", "https://errors.example/y")];
    let locations = [begin(&app, &parameters).await, begin(&app, &parameters).await];
    app.configure(domains(json!([{ "domain": "https://errors.example" }]))).await;
    let (code, state) = provider.allow(&app, &locations[0], ada());
    let url = landed(&super::oauth_callback::come_back(&app, &code, &state).await);
    assert!(url.as_str().starts_with("https://errors.example/y?") && error_of(&url) == "REDIRECT_URL_NOT_WHITELISTED", "{url}");
    app.configure(domains(json!([]))).await;
    let (code, state) = provider.allow(&app, &locations[1], ada());
    assert_error(&super::oauth_callback::come_back(&app, &code, &state).await, 400, "REDIRECT_URL_NOT_WHITELISTED");
    assert_nobody_signed_up(&app).await;
}

/// Metadata is invalid if it names another issuer, even at the right URL (OpenID Connect Discovery
/// §4.3).
#[tokio::test]
async fn metadata_that_names_another_issuer_is_rejected() {
    let (app, provider) = start().await;
    let port = provider.issuer.rsplit_once(':').unwrap().1;
    for issuer in [format!("http://localhost:{port}"), format!("{}/", provider.issuer), format!("{}/tenant/..", provider.issuer)] {
        let mut setting = provider.setting();
        setting["issuer"] = issuer.as_str().into();
        let changed = app.admin().patch("/api/v1/internal/projects/current", json!({ "config": { "oauth_providers": [setting] } })).await;
        if changed.status() == 400 {
            continue;
        }
        let answer = authorize(&app, "acme", &parameters_with(&app, &[])).await;
        assert_error(&answer, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    }
    assert!(provider.requests().contains(&"metadata".to_owned()), "the provider's metadata was not fetched");
    app.configure(json!({ "config": { "oauth_providers": [provider.setting()] } })).await;
    sign_in(&app, &provider, ada()).await;
}

/// Apps navigate to the location that they get in JSON, so a script in it would run in the app.
#[tokio::test]
async fn a_script_as_the_authorization_endpoint_is_rejected() {
    let (app, provider) = start().await;
    provider.misbehave(Fault::ScriptEndpoint);
    let answer = authorize(&app, "acme", &parameters_with(&app, &[("stack_response_mode", "json")])).await;
    assert_error(&answer, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    assert_eq!(provider.requests(), ["metadata"]);
    provider.behave();
    sign_in(&app, &provider, ada()).await;
}
