//! Adding, changing and removing a single provider, and testing an issuer when it is saved.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::StatusCode;
use serde_json::{Value, json};
use support::provider::{CLIENT_ID, Misbehaviour, Provider};
use support::{API_URL, Answer, TestApp};

use super::INTERNAL;
use crate::auth::assert_error;
use crate::auth::oauth_callback::{ada, sign_in};

const PATH: &str = "/api/v1/internal/oauth-providers";
const ENVIRONMENT: &str = "/api/v1/internal/config/override/environment";

async fn set(app: &TestApp, provider: Value) -> Answer {
    app.admin().post(PATH, provider).await
}

async fn ids(app: &TestApp) -> Vec<String> {
    let read = app.admin().get(INTERNAL).await.json();
    let providers = read["config"]["oauth_providers"].as_array().unwrap().iter();
    providers.map(|provider| provider["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn one_provider_is_set_and_removed_without_the_secrets_of_the_others() {
    let (app, acme) = (TestApp::start().await, Provider::start().await);
    assert_eq!(set(&app, acme.setting()).await.status(), 200);
    let saved = set(&app, json!({ "id": "github", "client_id": "one", "client_secret": "the-secret" })).await;
    assert_eq!(saved.status(), 200, "{}", saved.text());
    let expected = json!({
        "id": "github", "provider_config_id": "github", "type": "standard", "client_id": "one", "client_secret": "********",
        "redirect_uri": format!("{API_URL}/api/v1/auth/oauth/callback/github"),
    });
    assert_eq!(saved.json(), expected);
    assert!(!saved.text().contains("the-secret"));
    // A different client requires a different secret. Other changes do not require a secret.
    let other = set(&app, json!({ "id": "github", "client_id": "two" })).await;
    assert!(other.text().contains("body.client_secret is required"), "{}", other.text());
    assert_eq!(set(&app, json!({ "id": "github" })).await.status(), 200);
    assert_eq!(set(&app, json!({ "id": "github", "client_id": "two", "client_secret": "another" })).await.status(), 200);
    assert_eq!(ids(&app).await, ["acme", "github"]);
    sign_in(&app, &acme, ada()).await;

    assert_eq!(app.admin().delete(&format!("{PATH}/github")).await.status(), 200);
    assert_eq!(ids(&app).await, ["acme"]);
    sign_in(&app, &acme, ada()).await;
    assert_error(&app.admin().delete(&format!("{PATH}/github")).await, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
    assert_eq!(set(&app, json!({ "id": "github", "client_id": "two" })).await.code(), "SCHEMA_ERROR", "the secret is gone");
    assert_error(&set(&app, json!({ "id": "discord", "type": "shared" })).await, 400, "INVALID_SHARED_OAUTH_PROVIDER_ID");
    assert_eq!(app.server().post(PATH, json!({ "id": "github" })).await.code(), "INSUFFICIENT_ACCESS_TYPE");
}

/// Setting a new secret must not open an app for one tenant to the users of all tenants.
#[tokio::test]
async fn a_change_of_one_field_keeps_the_tenant() {
    let app = TestApp::start().await;
    let read = async || app.admin().get(INTERNAL).await.json()["config"]["oauth_providers"].clone();
    for (id, field) in [("microsoft", "microsoft_tenant_id"), ("facebook", "facebook_config_id")] {
        let whole = json!({ "id": id, "client_id": "x", "client_secret": "y", field: "contoso" });
        assert_eq!(set(&app, whole).await.status(), 200);
        for change in [json!({ "id": id, "client_secret": "z" }), json!({ "id": id }), json!({ "id": id, "client_secret": "********" })] {
            assert_eq!(set(&app, change.clone()).await.json()[field], "contoso", "{change}");
        }
        let cleared = set(&app, json!({ "id": id, "client_secret": "z", field: "" })).await;
        assert_eq!((cleared.status(), &cleared.json()[field]), (200, &Value::Null), "{}", cleared.text());
        assert_eq!(app.admin().delete(&format!("{PATH}/{id}")).await.status(), 200);
    }
    // A different tenant means a different destination for the secret.
    assert_eq!(
        set(&app, json!({ "id": "microsoft", "client_id": "x", "client_secret": "y", "microsoft_tenant_id": "a" })).await.status(),
        200
    );
    assert_eq!(set(&app, json!({ "id": "microsoft", "microsoft_tenant_id": "b" })).await.code(), "SCHEMA_ERROR");
    // Setting the list of all providers replaces every field.
    let all = json!([{ "id": "microsoft", "client_id": "x", "client_secret": "y" }]);
    app.configure(json!({ "config": { "oauth_providers": all } })).await;
    assert_eq!(read().await[0].get("microsoft_tenant_id"), None);
}

#[tokio::test]
async fn concurrent_changes_of_several_providers_are_all_made() {
    let app = TestApp::start().await;
    let (one, two) = (app.admin(), app.admin());
    let body = |id: &str| json!({ "id": id, "client_id": "x", "client_secret": "y" });
    let (one, two) = tokio::join!(one.post(PATH, body("github")), two.post(PATH, body("gitlab")));
    assert_eq!((one.status(), two.status()), (200, 200), "{} {}", one.text(), two.text());
    let mut ids = ids(&app).await;
    ids.sort();
    assert_eq!(ids, ["github", "gitlab"]);
}

/// The configuration of the branch, such as a file in a repository, together with the operations on
/// a single provider.
#[tokio::test]
async fn a_removed_provider_of_the_branch_stays_removed_and_others_stay() {
    let app = TestApp::start().await;
    let level = async |level: &str, values: Value| {
        let path = format!("/api/v1/internal/config/override/{level}");
        let answer = app.admin().patch(&path, json!({ "config_override_string": values.to_string() })).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
    };
    level("branch", json!({ "auth.oauth.providers.github": { "type": "github" }, "auth.oauth.providers.gitlab": { "type": "gitlab" } }))
        .await;
    for id in ["github", "gitlab"] {
        assert_eq!(set(&app, json!({ "id": id, "client_id": "x", "client_secret": "y" })).await.status(), 200);
    }
    level("environment", json!({ "auth.oauth.providers.gitlab.allowSignIn": false })).await;
    assert_eq!(ids(&app).await, ["github"]);
    assert_eq!(app.admin().delete(&format!("{PATH}/github")).await.status(), 200);
    level("environment", json!({ "auth.allowSignUp": true })).await;
    assert_eq!(ids(&app).await, Vec::<String>::new());
    // The other provider still has its client and its secret.
    level("environment", json!({ "auth.oauth.providers.gitlab.allowSignIn": true })).await;
    assert_eq!(ids(&app).await, ["gitlab"]);
}

#[tokio::test]
async fn an_issuer_is_tested_by_every_way_to_save_it() {
    let (app, acme) = (TestApp::start().await, Provider::start().await);
    let mut wrong = acme.setting();
    wrong["issuer"] = json!(format!("{}/", acme.issuer));
    let camel = json!({ "auth.oauth.providers.acme": {
        "type": "custom_oidc", "clientId": CLIENT_ID, "clientSecret": "s", "issuer": wrong["issuer"], "allowSignIn": true,
    } });
    for answer in [
        set(&app, wrong.clone()).await,
        app.admin().patch(INTERNAL, json!({ "config": { "oauth_providers": [wrong] } })).await,
        app.admin().patch(ENVIRONMENT, json!({ "config_override_string": camel.to_string() })).await,
    ] {
        let details = assert_error(&answer, 400, "OAUTH_PROVIDER_MISCONFIGURED");
        assert_eq!(details["provider_id"], "acme");
        assert!(details["reason"].as_str().unwrap().contains("names another issuer"), "{details}");
        assert_eq!(ids(&app).await, Vec::<String>::new());
    }
    assert_eq!(set(&app, acme.setting()).await.status(), 200);
    assert_eq!(acme.requests().iter().filter(|path| *path == "jwks").count(), 1, "the keys are read, too");
}

/// A provider that is not used for sign-in may be set up step by step.
#[tokio::test]
async fn an_issuer_is_tested_when_users_may_sign_in_with_it() {
    let (app, acme) = (TestApp::start().await, Provider::start().await);
    let wrong = format!("{}/realms/none", acme.issuer);
    let idle = json!({ "auth.oauth.providers.acme": {
        "type": "custom_oidc", "clientId": CLIENT_ID, "clientSecret": "s", "issuer": wrong, "allowSignIn": false,
    } });
    let save = async |values: Value| app.admin().patch(ENVIRONMENT, json!({ "config_override_string": values.to_string() })).await;
    assert_eq!(save(idle).await.status(), 200);
    let offered = json!({ "auth.oauth.providers.acme.allowSignIn": true });
    assert_error(&save(offered.clone()).await, 400, "OAUTH_PROVIDER_MISCONFIGURED");
    let issuer = json!({ "auth.oauth.providers.acme.issuer": acme.issuer, "auth.oauth.providers.acme.clientSecret": "s" });
    assert_eq!(save(issuer).await.status(), 200);
    assert_eq!(save(offered).await.status(), 200);
    assert_eq!(ids(&app).await, ["acme"]);
}

#[tokio::test]
async fn what_is_wrong_with_an_issuer_is_said() {
    let (app, acme) = (TestApp::start().await, Provider::start().await);
    let mut elsewhere = acme.setting();
    elsewhere["issuer"] = json!(format!("{}/realms/none", acme.issuer));
    let refused =
        async |provider: Value| assert_error(&set(&app, provider).await, 400, "OAUTH_PROVIDER_MISCONFIGURED")["reason"].to_string();
    assert!(refused(elsewhere).await.contains("answers 404"));
    acme.misbehave(Misbehaviour::Maintenance);
    assert!(refused(acme.setting()).await.contains("does not have the expected form"));
    acme.misbehave(Misbehaviour::ScriptEndpoint);
    assert!(refused(acme.setting()).await.contains("authorization endpoint"));
    acme.behave();
    acme.publish("jwks_uri", json!(format!("{}/nowhere", acme.issuer)));
    assert!(refused(acme.setting()).await.contains("/nowhere answers 404"));
    let gone = acme.setting();
    drop(acme);
    assert!(refused(gone).await.contains("did not answer in time, or has no public HTTPS address"));
}

/// Without this limit, anyone who may create projects could make this service flood other services
/// with requests.
#[tokio::test]
async fn issuers_of_a_stranger_get_few_requests() {
    let (app, requests) = (TestApp::start().await, Arc::new(AtomicUsize::new(0)));
    let count = Arc::clone(&requests);
    let stranger = axum::Router::new().fallback(move || async move {
        count.fetch_add(1, Ordering::SeqCst);
        StatusCode::NOT_FOUND
    });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move { axum::serve(listener, stranger).await.unwrap() });
    let provider =
        |number: usize| json!({ "id": format!("p{number}"), "client_id": "x", "client_secret": "y", "issuer": format!("{base}/{number}") });
    let providers: Vec<Value> = (0..50).map(provider).collect();
    let answer = app.admin().patch(INTERNAL, json!({ "config": { "oauth_providers": providers } })).await;
    assert_error(&answer, 400, "OAUTH_PROVIDER_MISCONFIGURED");
    assert!(requests.load(Ordering::SeqCst) <= 4, "{requests:?}");
    server.abort();
}

/// If the errors differed, project administrators could scan the deployment's network.
#[tokio::test]
async fn a_private_address_and_one_that_does_not_answer_are_not_told_apart() {
    let app = TestApp::start().await.redeployed(|settings| settings.allow_private_issuers = false);
    let mut reasons = Vec::new();
    for host in ["127.0.0.1", "127.0.0.1:1", "127.0.0.2", "[::ffff:127.0.0.1]", "localhost", "nothing.invalid"] {
        let provider = json!({ "id": "own", "client_id": "x", "client_secret": "y", "issuer": format!("https://{host}") });
        let answer = set(&app, provider).await;
        let details = assert_error(&answer, 400, "OAUTH_PROVIDER_MISCONFIGURED");
        reasons.push(details["reason"].as_str().unwrap().replace(host, "HOST"));
    }
    reasons.dedup();
    assert_eq!(reasons.len(), 1, "{reasons:?}");
}

/// An issuer that is down must not block other changes.
#[tokio::test]
async fn a_provider_that_stays_as_it_is_need_not_be_available() {
    let (app, acme) = (TestApp::start().await, Provider::start().await);
    assert_eq!(set(&app, acme.setting()).await.status(), 200);
    let read = app.admin().get(INTERNAL).await.json()["config"]["oauth_providers"][0].clone();
    drop(acme);
    let mut again = read;
    again.as_object_mut().unwrap().remove("provider_config_id");
    let github = json!({ "id": "github", "client_id": "x", "client_secret": "y" });
    let both = json!({ "config": { "sign_up_enabled": false, "oauth_providers": [again, github] } });
    let answer = app.admin().patch(INTERNAL, both).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(set(&app, json!({ "id": "gitlab", "client_id": "x", "client_secret": "y" })).await.status(), 200);
    assert_eq!(app.admin().delete(&format!("{PATH}/acme")).await.status(), 200);
}
