//! Providers of the type `shared`, which use the deployment's OAuth client.

use std::collections::HashMap;

use model::provider::shared::{SharedClient, SharedClients};
use serde_json::{Value, json};
use support::stand_in::StandIn;
use support::{Answer, TestApp};

use super::assert_error;
use super::oauth_authorize::{authorize, parameters_with};
use super::oauth_callback::{exchange, landed, parameter};

const PROJECT: &str = "/api/v1/internal/projects/current";
const ENVIRONMENT: &str = "/api/v1/internal/config/override/environment";

fn google() -> HashMap<String, Value> {
    HashMap::from([(String::new(), json!({ "sub": "1084", "email": "ada@example.com", "email_verified": true, "name": "Ada" }))])
}

/// A service whose deployment shares an OAuth client at Google. The stand-in plays Google.
async fn start() -> (TestApp, StandIn) {
    let provider = StandIn::start("google", google()).await;
    let setting = provider.setting();
    let text = |name: &str| setting[name].as_str().unwrap().to_owned();
    let client = SharedClient { id: text("client_id"), secret: Some(text("client_secret").into()) };
    let app =
        TestApp::start_at(&provider).await.redeployed(|settings| settings.shared_clients = SharedClients::from_iter([("google", client)]));
    (app, provider)
}

async fn set(app: &TestApp, providers: Value) -> Answer {
    app.admin().patch(PROJECT, json!({ "config": { "oauth_providers": providers } })).await
}

async fn sign_in(app: &TestApp, provider: &StandIn) -> Value {
    let mut asked = parameters_with(app, &[]);
    asked.push(("response_mode", "json".to_owned()));
    let begun = authorize(app, "google", &asked).await;
    assert_eq!(begun.status(), 200, "{}", begun.text());
    let (code, state) = provider.allow(&begun.json()["location"].as_str().unwrap().parse().unwrap());
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("code", &code).append_pair("state", &state).finish();
    let back = landed(&app.anonymous().get(&format!("/api/v1/auth/oauth/callback/google?{query}")).await);
    let tokens = exchange(app, &parameter(&back, "code")).await;
    assert_eq!(tokens.status(), 200, "{}", tokens.text());
    tokens.json()
}

#[tokio::test]
async fn users_sign_in_with_the_deployment_s_client() {
    let (app, provider) = start().await;
    let answer = set(&app, json!([{ "id": "google", "type": "shared" }])).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let read = app.admin().get(PROJECT).await.json();
    assert_eq!(read["config"]["oauth_providers"], json!([{ "id": "google", "provider_config_id": "google", "type": "shared" }]));
    assert_eq!(read["config"]["enabled_oauth_providers"], json!([{ "id": "google" }]));
    let mut back = read["config"]["oauth_providers"].clone();
    back[0].as_object_mut().unwrap().remove("provider_config_id");
    assert_eq!(set(&app, back).await.status(), 200, "what was read can be sent back");
    let tokens = sign_in(&app, &provider).await;
    let caller = app.client().with("x-stack-access-token", tokens["access_token"].as_str().unwrap());
    assert_eq!(caller.get("/api/v1/users/me").await.json()["primary_email"], "ada@example.com");
    assert_eq!(sign_in(&app, &provider).await["is_new_user"], false);

    // Apps get neither access tokens nor additional scopes from a client that belongs to the
    // deployment.
    for path in ["google", "google/1084"] {
        let token = caller.post(&format!("/api/v1/connected-accounts/me/{path}/access-token"), json!({})).await;
        assert_error(&token, 400, "OAUTH_ACCESS_TOKEN_NOT_AVAILABLE_WITH_SHARED_OAUTH_KEYS");
    }
    assert!(app.table().keys().all(|key| !key.1.starts_with("PROVIDER#")), "no token of the provider is kept");
    let more = authorize(&app, "google", &parameters_with(&app, &[("provider_scope", "calendar")])).await;
    assert_error(&more, 400, "OAUTH_EXTRA_SCOPE_NOT_AVAILABLE_WITH_SHARED_OAUTH_KEYS");
}

#[tokio::test]
async fn a_client_that_the_deployment_lacks_is_refused_when_it_is_set() {
    let (app, _provider) = start().await;
    let answer = set(&app, json!([{ "id": "github", "type": "shared" }])).await;
    assert_error(&answer, 400, "SCHEMA_ERROR");
    assert!(answer.text().contains("GATELET_SHARED_GITHUB_CLIENT_ID"), "{}", answer.text());
    for id in ["discord", "apple", "acme"] {
        let details = assert_error(&set(&app, json!([{ "id": id, "type": "shared" }])).await, 400, "INVALID_SHARED_OAUTH_PROVIDER_ID");
        assert_eq!(details["provider_id"], id);
    }
    for (name, value) in [("client_id", "mine"), ("client_secret", "mine"), ("authorization_endpoint", "https://evil.example/authorize")] {
        let mut provider = json!({ "id": "google", "type": "shared" });
        provider[name] = value.into();
        assert_error(&set(&app, json!([provider])).await, 400, "SCHEMA_ERROR");
    }
    assert_eq!(app.admin().get(PROJECT).await.json()["config"]["oauth_providers"], json!([]));
}

#[tokio::test]
async fn a_configuration_may_share_a_client() {
    let (app, provider) = start().await;
    let google = |shared: bool| json!({ "auth.oauth.providers.google": { "type": "google", "isShared": shared } });
    let merge = async |values: Value| app.admin().patch(ENVIRONMENT, json!({ "config_override_string": values.to_string() })).await;
    let answer = merge(google(true)).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let whole = app.admin().get("/api/v1/internal/config").await.json();
    let whole: Value = serde_json::from_str(whole["config_string"].as_str().unwrap()).unwrap();
    let shown = &whole["auth"]["oauth"]["providers"]["google"];
    assert_eq!((&shown["isShared"], shown.get("clientId")), (&json!(true), None));
    sign_in(&app, &provider).await;
    let github = merge(json!({ "auth.oauth.providers.github": { "type": "github", "isShared": true } })).await;
    assert_error(&github, 400, "SCHEMA_ERROR");
    assert!(github.text().contains("auth.oauth.providers.github"), "{}", github.text());
    assert_eq!(merge(google(false)).await.status(), 200);
    assert_eq!(app.admin().get(PROJECT).await.json()["config"]["oauth_providers"], json!([]), "without any client");
}

/// The project's stored secret is used only with the project's client. The deployment's secret is
/// used only with the deployment's client.
#[tokio::test]
async fn a_provider_changes_between_own_and_shared_client() {
    let (app, provider) = start().await;
    assert_eq!(set(&app, json!([provider.setting()])).await.status(), 200);
    sign_in(&app, &provider).await;
    assert_eq!(set(&app, json!([{ "id": "google", "type": "shared" }])).await.status(), 200);
    assert_eq!(sign_in(&app, &provider).await["is_new_user"], false);
    let without_secret = json!([{ "id": "google", "type": "standard", "client_id": "mine" }]);
    assert_error(&set(&app, without_secret).await, 400, "SCHEMA_ERROR");
    assert_eq!(set(&app, json!([provider.setting()])).await.status(), 200);
    sign_in(&app, &provider).await;
}

#[tokio::test]
async fn a_client_that_the_deployment_gave_up_signs_nobody_in() {
    let (app, _provider) = start().await;
    assert_eq!(set(&app, json!([{ "id": "google", "type": "shared" }])).await.status(), 200);
    let later = app.redeployed(|settings| settings.shared_clients = SharedClients::default());
    let begun = authorize(&later, "google", &parameters_with(&later, &[])).await;
    assert_error(&begun, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
}
