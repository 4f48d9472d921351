//! Providers in a project's settings. Their secrets can be written but not read.

use serde_json::{Value, json};
use support::provider::Provider;
use support::{Answer, TestApp};

use super::INTERNAL;

async fn set(app: &TestApp, providers: Value) -> Answer {
    app.admin().patch(INTERNAL, json!({ "config": { "oauth_providers": providers } })).await
}

/// The URL that the service redirects users to when they sign in with a provider.
async fn location(app: &TestApp, provider: &str) -> url::Url {
    let project = app.project_id();
    let key = secrecy::ExposeSecret::expose_secret(&app.keys.client);
    let query = url::form_urlencoded::Serializer::new(String::new())
        .extend_pairs([
            ("client_id", project.as_str()),
            ("client_secret", key),
            ("redirect_uri", "http://localhost:3000/handler/oauth-callback"),
            ("scope", "legacy"),
            ("state", "s"),
            ("grant_type", "authorization_code"),
            ("code_challenge", &"x".repeat(43)),
            ("code_challenge_method", "S256"),
            ("response_type", "code"),
            ("type", "authenticate"),
            ("error_redirect_url", "http://localhost:3000/error"),
            ("stack_response_mode", "json"),
        ])
        .finish();
    let answer = app.anonymous().get(&format!("/api/v1/auth/oauth/authorize/{provider}?{query}")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["location"].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn a_secret_is_never_returned() {
    let app = TestApp::start().await;
    let answer = set(&app, json!([{ "id": "github", "type": "standard", "client_id": "the-id", "client_secret": "the-secret" }])).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let read = app.admin().get(INTERNAL).await;
    for answer in [&answer, &read] {
        assert!(!answer.text().contains("the-secret"), "{}", answer.text());
    }
    let expected = json!([
        { "id": "github", "provider_config_id": "github", "type": "standard", "client_id": "the-id", "client_secret": "********" },
    ]);
    assert_eq!(read.json()["config"]["oauth_providers"], expected);
    assert_eq!(read.json()["config"]["enabled_oauth_providers"], json!([{ "id": "github" }]));
    // No call to the table contains the secret in plaintext.
    let calls = app.recorder.calls();
    assert!(!calls.is_empty() && calls.iter().all(|(_, body)| !body.contains("the-secret")));
}

/// The stored secret of the project's first provider, in decrypted form.
async fn stored_secret(app: &TestApp) -> String {
    let row = app.app.store.project(app.project_id()).await.unwrap().unwrap();
    let provider = &row.project.config.oauth_providers[0];
    let secret = app.app.sealer.open(&format!("{}/{}", app.project_id(), provider.id), provider.client_secret.as_ref().unwrap()).unwrap();
    secrecy::ExposeSecret::expose_secret(&secret).to_owned()
}

#[tokio::test]
async fn a_secret_is_kept_for_the_same_destination_only() {
    let app = TestApp::start().await;
    set(&app, json!([{ "id": "github", "client_id": "one", "client_secret": "the-secret" }])).await;
    let read = app.admin().get(INTERNAL).await.json()["config"]["oauth_providers"][0].clone();
    let mut read = read.as_object().unwrap().clone();
    read.remove("provider_config_id");
    for provider in [json!(read), json!({ "id": "github", "client_id": "one" }), json!({ "id": "github", "client_secret": "" })] {
        let answer = set(&app, json!([provider])).await;
        assert_eq!(answer.status(), 200, "{}", answer.text());
        assert_eq!(stored_secret(&app).await, "the-secret");
    }
    for secret in ["", "********"] {
        let answer = set(&app, json!([{ "id": "github", "client_id": "two", "client_secret": secret }])).await;
        assert!(answer.text().contains("is required when the client id, issuer or tenant changes"), "{}", answer.text());
    }
    let answer = set(&app, json!([{ "id": "github", "client_id": "two", "client_secret": "another" }])).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(stored_secret(&app).await, "another");
    let url = location(&app, "github").await;
    assert_eq!((url.host_str(), url.query_pairs().find(|(name, _)| name == "client_id").unwrap().1.as_ref()), (Some("github.com"), "two"));
    // If the secret were kept, the service would send it to the new issuer's token endpoint.
    let own = |issuer: &str, secret: &str| json!([{ "id": "own", "client_id": "x", "client_secret": secret, "issuer": issuer }]);
    let provider = Provider::start().await;
    let saved = set(&app, own(&provider.issuer, "its-secret")).await;
    assert_eq!(saved.status(), 200, "{}", saved.text());
    for secret in ["", "********"] {
        let stolen = set(&app, own("https://id.evil.example", secret)).await;
        assert_eq!((stolen.status(), stolen.code().as_str()), (400, "SCHEMA_ERROR"), "{}", stolen.text());
    }
    assert_eq!(set(&app, own(&provider.issuer, "********")).await.status(), 200);
    assert_eq!(stored_secret(&app).await, "its-secret");
    set(&app, json!([{ "id": "github", "client_id": "two", "client_secret": "another" }])).await;

    let answer = set(&app, json!([{ "id": "google", "client_id": "x" }])).await;
    assert!(answer.text().contains("body.config.oauth_providers[0].client_secret"), "{}", answer.text());
    // A provider that was removed and added again does not have a secret.
    assert_eq!(set(&app, json!([])).await.status(), 200);
    assert_eq!(set(&app, json!([{ "id": "github", "client_id": "two" }])).await.code(), "SCHEMA_ERROR");
}

#[tokio::test]
async fn an_invalid_provider_is_reported_and_changes_nothing() {
    let app = TestApp::start().await;
    let good = json!({ "id": "github", "client_id": "x", "client_secret": "y" });
    assert_eq!(set(&app, json!([good])).await.status(), 200);
    let before = app.admin().get(INTERNAL).await.json();
    let custom = |issuer: &str, endpoint: &str| json!({ "id": "own", "client_id": "x", "client_secret": "y", "issuer": issuer, "authorization_endpoint": endpoint });
    let wrong = [
        (json!([good, good]), "[1].id"),
        (json!([{ "client_id": "x", "client_secret": "y" }]), "[0].id"),
        (json!([{ "id": "", "client_id": "x", "client_secret": "y" }]), "[0].id"),
        (json!([{ "id": "Git Hub", "client_id": "x", "client_secret": "y" }]), "[0].id"),
        (json!([{ "id": "google", "client_secret": "y" }]), "[0].client_id"),
        (json!([{ "id": "google", "client_id": "", "client_secret": "y" }]), "[0].client_id"),
        (json!([{ "id": "google", "client_id": "x" }]), "[0].client_secret"),
        (json!([{ "id": "google", "type": "shared" }]), "[0].type"),
        (json!([{ "id": "own", "client_id": "x", "client_secret": "y" }]), "[0].issuer"),
        (json!([custom("nowhere", "https://own.test/authorize")]), "[0].issuer"),
        (json!([custom("https://own.test", "javascript:alert(1)")]), "[0].authorization_endpoint"),
        (json!([{ "id": "google", "client_id": "x", "client_secret": "y", "scope": "z" }]), "[0].scope"),
        (json!(vec![good; 51]), ""),
    ];
    for (providers, path) in wrong {
        let answer = set(&app, providers.clone()).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{providers} {}", answer.text());
        assert!(answer.text().contains(&format!("body.config.oauth_providers{path} ")), "{path} in {}", answer.text());
        assert_eq!(app.admin().get(INTERNAL).await.json(), before);
    }
    let provider = Provider::start().await;
    assert_eq!(set(&app, json!([custom(&provider.issuer, "https://own.test/authorize")])).await.status(), 200);
    assert_eq!(location(&app, "own").await.host_str(), Some("own.test"));
}

#[tokio::test]
async fn bundle_ids_of_apple_are_listed_and_named_in_the_configuration() {
    let app = TestApp::start().await;
    let apple = |ids: Value| json!({ "id": "apple", "client_id": "one", "client_secret": "s", "apple_bundle_ids": ids });
    let shown = async || {
        let read = app.admin().get(INTERNAL).await.json()["config"]["oauth_providers"][0]["apple_bundle_ids"].clone();
        let config = app.admin().get("/api/v1/internal/config").await.json();
        let config: Value = serde_json::from_str(config["config_string"].as_str().unwrap()).unwrap();
        (read, config["auth"]["oauth"]["providers"]["apple"]["appleBundles"].clone())
    };
    let answer = set(&app, json!([apple(json!(["com.example.ios"]))])).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    assert_eq!(shown().await, (json!(["com.example.ios"]), json!({ "bundle1": { "bundleId": "com.example.ios" } })));

    let named = json!({ "auth.oauth.providers.apple.appleBundles": { "ios": { "bundleId": "com.example.ios" } } });
    let level = async |level: &str, values: &Value| {
        let path = format!("/api/v1/internal/config/override/{level}");
        app.admin().patch(&path, json!({ "config_override_string": values.to_string() })).await
    };
    assert_eq!(level("branch", &named).await.status(), 400, "ids of apps differ between environments");
    let answer = level("environment", &named).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    // If a request omits the list of bundle ids, the list is unchanged. Bundle ids that are already
    // listed keep their names.
    assert_eq!(set(&app, json!([{ "id": "apple", "client_id": "one" }])).await.status(), 200);
    assert_eq!(shown().await, (json!(["com.example.ios"]), json!({ "ios": { "bundleId": "com.example.ios" } })));
    assert_eq!(set(&app, json!([apple(json!(["com.example.mac", "com.example.ios"]))])).await.status(), 200);
    let both = json!({ "bundle1": { "bundleId": "com.example.mac" }, "ios": { "bundleId": "com.example.ios" } });
    assert_eq!(shown().await, (json!(["com.example.mac", "com.example.ios"]), both));
    assert_eq!(level("environment", &json!({ "auth.oauth.providers.apple.appleBundles.ios": null })).await.status(), 200);
    assert_eq!(shown().await.0, json!(["com.example.mac"]));
    assert_eq!(set(&app, json!([apple(json!([]))])).await.status(), 200);
    assert_eq!(shown().await, (Value::Null, Value::Null));
}

#[tokio::test]
async fn invalid_bundle_ids_are_refused() {
    let app = TestApp::start().await;
    let many: Vec<String> = (0..21).map(|number| format!("com.example.{number}")).collect();
    for ids in
        [json!([""]), json!(["com.example.*"]), json!(["a".repeat(156)]), json!(["a.b", "a.b"]), json!(many), json!("a.b"), json!([1])]
    {
        let provider = json!({ "id": "apple", "client_id": "one", "client_secret": "s", "apple_bundle_ids": ids });
        let answer = set(&app, json!([provider])).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"), "{ids}");
        assert!(answer.text().contains("config.oauth_providers[0].apple_bundle_ids"), "{}", answer.text());
    }
    let github = json!({ "id": "github", "client_id": "one", "client_secret": "s", "apple_bundle_ids": ["a.b"] });
    assert_eq!(set(&app, json!([github])).await.status(), 400);
    let values = json!({ "auth.oauth.providers.apple": {
        "type": "apple", "clientId": "one", "clientSecret": "s", "appleBundles": { "ios": { "bundleId": "com example" } },
    } });
    let path = "/api/v1/internal/config/override/environment";
    let answer = app.admin().patch(path, json!({ "config_override_string": values.to_string() })).await;
    assert_eq!(answer.status(), 400);
    assert!(answer.text().contains("auth.oauth.providers.apple.appleBundles"), "{}", answer.text());
}
