//! Providers that are down, slow, faulty or hostile. The app gets an error, and the service stores
//! no partial changes.

use serde_json::json;
use support::TestApp;
use support::provider::Misbehaviour;

use super::assert_error;
use super::oauth_authorize::{authorize, parameters_with};
use super::oauth_callback::{ada, begin, error_of, flow, landed, parameter, sign_in, start};

async fn assert_nobody_signed_up(app: &TestApp) {
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"], json!([]));
}

#[tokio::test]
async fn a_failing_provider_creates_nothing() {
    use Misbehaviour::*;
    let (app, provider) = start().await;
    let faults = [
        (Down, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Silent, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Garbage, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Huge, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (RedirectsTokenRequest, "OAUTH_PROVIDER_MISCONFIGURED"),
        (Refuses, "INVALID_AUTHORIZATION_CODE"),
        (RefusesClient, "OAUTH_PROVIDER_REFUSES_CLIENT"),
        (RefusesClientInHtml, "OAUTH_PROVIDER_REFUSES_CLIENT"),
        (NoIdToken, "OAUTH_PROVIDER_MISCONFIGURED"),
        (WrongNonce, "INVALID_AUTHORIZATION_CODE"),
        (WrongAudience, "OAUTH_PROVIDER_MISCONFIGURED"),
        (WrongIssuer, "OAUTH_PROVIDER_MISCONFIGURED"),
        (Expired, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (ForgedSignature, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        (Unsigned, "OAUTH_PROVIDER_MISCONFIGURED"),
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
    provider.misbehave(Misbehaviour::RedirectsTokenRequest);
    flow(&app, &provider, ada(), &[]).await;
    assert_eq!(provider.requests().iter().filter(|path| *path == "token").count(), 1);
}

#[tokio::test]
async fn provider_errors_are_passed_to_the_app() {
    let (app, provider) = start().await;
    for (error, oauth, code) in [
        ("access_denied", "access_denied", "OAUTH_PROVIDER_ACCESS_DENIED"),
        ("login_required", "access_denied", "OAUTH_PROVIDER_ACCESS_DENIED"),
        ("user_cancelled_authorize", "access_denied", "OAUTH_PROVIDER_ACCESS_DENIED"),
        ("temporarily_unavailable", "server_error", "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        ("server_error", "server_error", "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE"),
        ("invalid_scope", "server_error", "OAUTH_PROVIDER_MISCONFIGURED"),
        ("unauthorized_client", "server_error", "OAUTH_PROVIDER_MISCONFIGURED"),
        ("redirect_uri_mismatch", "server_error", "OAUTH_PROVIDER_MISCONFIGURED"),
    ] {
        let (_, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
        let query = format!("error={error}&error_description=The%20user%0Asaid%20no&state={state}");
        let landed = landed(&app.anonymous().get(&format!("/api/v1/auth/oauth/callback/acme?{query}")).await);
        assert_eq!((parameter(&landed, "error").as_str(), parameter(&landed, "errorCode").as_str()), (oauth, code));
        assert!(!landed.as_str().contains("said"), "the provider's words are only logged: {landed}");
    }
    let (_, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
    let answer = app.anonymous().get(&format!("/api/v1/auth/oauth/callback/acme?state={state}")).await;
    assert_eq!(error_of(&landed(&answer)), "INVALID_AUTHORIZATION_CODE");
    // An error from another issuer is not a response to this request (RFC 9207 §2.4).
    let (_, state) = provider.allow(&app, &begin(&app, &[]).await, ada());
    let answer =
        app.anonymous().get(&format!("/api/v1/auth/oauth/callback/acme?error=access_denied&iss=https://evil.example&state={state}")).await;
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
    app.advance(jiff::SignedDuration::from_hours(2));
    provider.misbehave(Misbehaviour::Maintenance);
    let refused = authorize(&app, "acme", &parameters_with(&app, &[])).await;
    assert_error(&refused, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    provider.behave();
    let location = begin(&app, &[]).await;
    provider.misbehave(Misbehaviour::Maintenance);
    let (code, state) = provider.allow(&app, &location, ada());
    let url = landed(&super::oauth_callback::come_back(&app, &code, &state).await);
    assert_eq!(error_of(&url), "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    // The next flow works immediately.
    provider.behave();
    sign_in(&app, &provider, ada()).await;

    // Valid keys remain in use if a later fetch fails.
    app.advance(jiff::SignedDuration::from_mins(1));
    provider.misbehave(Misbehaviour::Maintenance);
    sign_in(&app, &provider, ada()).await;
}

#[tokio::test]
async fn an_unreachable_issuer_starts_no_flow() {
    let (app, provider) = start().await;
    app.advance(jiff::SignedDuration::from_hours(2));
    drop(provider);
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

/// Metadata is invalid if it names another issuer, even if its URL is correct (OpenID Connect
/// Discovery §4.3). An issuer whose metadata was valid when it was saved may publish invalid
/// metadata later.
#[tokio::test]
async fn metadata_that_names_another_issuer_is_rejected() {
    let (app, provider) = start().await;
    app.advance(jiff::SignedDuration::from_hours(2));
    for named in ["https://another.example".to_owned(), format!("{}/", provider.issuer), format!("{}/tenant/..", provider.issuer)] {
        provider.publish("issuer", named.clone().into());
        let answer = authorize(&app, "acme", &parameters_with(&app, &[])).await;
        let details = assert_error(&answer, 400, "OAUTH_PROVIDER_MISCONFIGURED");
        assert_eq!(details["provider_id"], "acme");
        assert!(!answer.text().contains(&named), "only the log has what the issuer says: {}", answer.text());
    }
    provider.publish("issuer", provider.issuer.clone().into());
    sign_in(&app, &provider, ada()).await;
}

/// Apps navigate to the location in the JSON, so an app would run a script that the location
/// contains.
#[tokio::test]
async fn a_script_as_the_authorization_endpoint_is_rejected() {
    let (app, provider) = start().await;
    app.advance(jiff::SignedDuration::from_hours(2));
    provider.requests();
    provider.misbehave(Misbehaviour::ScriptEndpoint);
    let answer = authorize(&app, "acme", &parameters_with(&app, &[("stack_response_mode", "json")])).await;
    assert_error(&answer, 400, "OAUTH_PROVIDER_MISCONFIGURED");
    assert_eq!(provider.requests(), ["metadata"]);
    provider.behave();
    sign_in(&app, &provider, ada()).await;
}
