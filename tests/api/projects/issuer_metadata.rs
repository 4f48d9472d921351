//! The metadata of a project as an issuer. Clients look for the metadata at several paths, and
//! authorizers of other services use it to check tokens.

use jsonwebtoken::jwk::JwkSet;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use serde_json::{Value, json};
use support::{API_URL, TestApp};

fn paths(project: &str) -> [String; 4] {
    let at = format!("/api/v1/projects/{project}");
    [
        format!("{at}/.well-known/openid-configuration"),
        format!("{at}/.well-known/oauth-authorization-server"),
        format!("/.well-known/openid-configuration{at}"),
        format!("/.well-known/oauth-authorization-server{at}"),
    ]
}

#[tokio::test]
async fn one_document_is_at_all_paths_where_clients_look() {
    let app = TestApp::start().await;
    let project = app.project_id().to_string();
    let issuer = format!("{API_URL}/api/v1/projects/{project}");
    let wanted = json!({
        "issuer": issuer,
        "jwks_uri": format!("{issuer}/.well-known/jwks.json"),
        "authorization_endpoint": format!("{issuer}/oauth2/authorize"),
        "token_endpoint": format!("{issuer}/oauth2/token"),
        "userinfo_endpoint": format!("{issuer}/oauth2/userinfo"),
        "pushed_authorization_request_endpoint": format!("{issuer}/oauth2/par"),
        "introspection_endpoint": format!("{issuer}/oauth2/introspect"),
        "revocation_endpoint": format!("{issuer}/oauth2/revoke"),
        "end_session_endpoint": format!("{issuer}/oauth2/end-session"),
        "device_authorization_endpoint": format!("{API_URL}/api/v1/auth/oauth/device_authorization"),
        "scopes_supported": ["openid", "profile", "email", "teams", "permissions", "offline_access"],
        "claims_supported": [
            "iss", "sub", "aud", "azp", "exp", "iat", "auth_time", "nonce", "acr", "amr", "sid", "at_hash", "name", "picture",
            "signed_up_at", "email", "email_verified", "teams", "permissions",
        ],
        "grant_types_supported":
            ["authorization_code", "refresh_token", "client_credentials", "urn:ietf:params:oauth:grant-type:device_code"],
        "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
        "response_types_supported": ["code"],
        "response_modes_supported": ["query", "form_post"],
        "code_challenge_methods_supported": ["S256"],
        "acr_values_supported": ["urn:gatelet:mfa", "urn:gatelet:1fa"],
        "prompt_values_supported": ["none", "login", "consent", "select_account", "create"],
        "ui_locales_supported": ["en", "de"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": false,
        "claims_parameter_supported": false,
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    });
    let mut texts = Vec::new();
    for path in paths(&project) {
        let answer = app.anonymous().get(&path).await;
        assert_eq!((answer.status(), answer.header("cache-control")), (200, Some("public, max-age=3600")), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
        assert_eq!(answer.json(), wanted, "{path}");
        texts.push(answer.text().to_owned());
    }
    assert!(texts.iter().all(|text| *text == texts[0]), "byte for byte");
}

#[tokio::test]
async fn unknown_projects_and_documents_have_no_metadata() {
    let app = TestApp::start().await;
    for id in ["00000000-0000-4000-8000-000000000000", "nonsense", "..%2f"] {
        for path in paths(id) {
            let answer = app.anonymous().get(&path).await;
            assert_eq!((answer.status(), answer.code().as_str()), (404, "PROJECT_NOT_FOUND"), "{path}");
        }
    }
    let project = app.project_id();
    for name in ["openid-configuration2", "oauth-protected-resource"] {
        for path in [format!("/api/v1/projects/{project}/.well-known/{name}"), format!("/.well-known/{name}/api/v1/projects/{project}")] {
            let answer = app.anonymous().get(&path).await;
            assert_eq!((answer.status(), answer.code().as_str()), (404, "ROUTE_NOT_FOUND"), "{path}");
        }
    }
    // The issuers of restricted and anonymous users do not have metadata.
    for kind in ["restricted", "anonymous"] {
        let path = format!("/api/v1/projects-{kind}-users/{project}/.well-known/openid-configuration");
        assert_eq!(app.anonymous().get(&path).await.status(), 404, "{path}");
    }
}

/// The settings that a user of an authorizer configures.
struct Authorizer<'a> {
    /// The issuer, or the URL of the document.
    issuer: &'a str,
    audiences: &'a [&'a str],
    /// `client_id`s; empty for any.
    clients: &'a [&'a str],
    /// The scopes that a route accepts. The token must have one of them. Empty if the route does
    /// not require a scope.
    scopes: &'a [&'a str],
}

impl Authorizer<'_> {
    /// Checks the document, the keys and the claims of a token, as the JWT authorizers of API
    /// Gateway and Bedrock `AgentCore` do.
    ///
    /// <https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-jwt-authorizer.html>
    async fn admits(&self, app: &TestApp, token: &str) -> Result<Value, String> {
        let document = app.anonymous().get(&format!("{}/.well-known/openid-configuration", self.path()?)).await.json();
        if document["issuer"] != self.issuer {
            return Err(format!("the document is of {}", document["issuer"]));
        }
        let keys = document["jwks_uri"].as_str().and_then(|uri| uri.strip_prefix(API_URL)).ok_or("the keys are elsewhere")?;
        let keys: JwkSet = serde_json::from_value(app.anonymous().get(keys).await.json()).map_err(|error| error.to_string())?;
        let header = jsonwebtoken::decode_header(token).map_err(|error| error.to_string())?;
        let key = keys.find(header.kid.as_deref().unwrap_or_default()).ok_or("no key has this kid")?;
        let mut rules = Validation::new(Algorithm::ES256);
        rules.validate_aud = false;
        rules.validate_exp = false;
        rules.set_issuer(&[self.issuer]);
        let key = DecodingKey::from_jwk(key).map_err(|error| error.to_string())?;
        let claims = jsonwebtoken::decode::<Value>(token, &key, &rules).map_err(|error| error.to_string())?.claims;
        self.check(&claims, app.now().as_second())?;
        Ok(claims)
    }

    fn path(&self) -> Result<&str, String> {
        self.issuer.strip_prefix(API_URL).ok_or_else(|| "the issuer is elsewhere".to_owned())
    }

    /// `exp` is in the future. `nbf` and `iat` are not in the future. One of the audiences matches
    /// `aud`. If there is no `aud`, one of the audiences matches `client_id`. The client is one of
    /// the clients, and `scope` contains one of the scopes.
    fn check(&self, claims: &Value, now: i64) -> Result<(), String> {
        let time = |name: &str| claims[name].as_i64();
        let is_current = time("exp").is_some_and(|exp| exp > now) && time("iat").is_none_or(|iat| iat <= now);
        let has = |name: &str, of: &[&str]| claims[name].as_str().is_some_and(|value| of.contains(&value));
        let audience = if claims["aud"].is_null() { "client_id" } else { "aud" };
        let scopes = claims["scope"].as_str().unwrap_or_default();
        let has_scope = self.scopes.is_empty() || scopes.split(' ').any(|scope| self.scopes.contains(&scope));
        match () {
            () if !is_current => Err("expired".to_owned()),
            () if !has(audience, self.audiences) => Err("audience".to_owned()),
            () if !self.clients.is_empty() && !has("client_id", self.clients) => Err("client".to_owned()),
            () if !has_scope => Err("scope".to_owned()),
            () => Ok(()),
        }
    }
}

#[tokio::test]
async fn authorizers_admit_users_of_the_project_only() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let project = app.project_id().to_string();
    let issuer = format!("{API_URL}/api/v1/projects/{project}");
    let authorizer = Authorizer { issuer: &issuer, audiences: &[&project], clients: &[&project], scopes: &["profile"] };
    let claims = authorizer.admits(&app, &ada.access_token).await.unwrap();
    assert_eq!((&claims["sub"], &claims["client_id"]), (&json!(ada.user_id), &json!(project)));

    let refused = async |authorizer: &Authorizer<'_>, token: &str| authorizer.admits(&app, token).await.unwrap_err();
    assert_eq!(refused(&Authorizer { audiences: &["other"], ..authorizer }, &ada.access_token).await, "audience");
    assert_eq!(refused(&Authorizer { clients: &["other"], ..authorizer }, &ada.access_token).await, "client");
    assert_eq!(refused(&Authorizer { scopes: &["admin"], ..authorizer }, &ada.access_token).await, "scope");

    let other = app.another_project().await;
    let issuer = format!("{API_URL}/api/v1/projects/{}", other.project_id);
    assert_eq!(refused(&Authorizer { issuer: &issuer, ..authorizer }, &ada.access_token).await, "no key has this kid");

    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let restricted = app.sign_up("restricted@example.com").await;
    assert_eq!(refused(&authorizer, &restricted.access_token).await, "no key has this kid");

    app.advance(jiff::SignedDuration::from_secs(601));
    assert_eq!(refused(&authorizer, &ada.access_token).await, "expired");
}

/// `discoveryUrl` of an inbound JWT authorizer of `AgentCore` must match this form.
#[tokio::test]
async fn the_discovery_url_has_the_form_that_agent_core_requires() {
    let app = TestApp::start().await;
    let [url, ..] = paths(app.project_id().as_str());
    assert!(url.ends_with("/.well-known/openid-configuration"));
    let document = app.anonymous().get(&url).await.json();
    assert_eq!(document["issuer"], format!("{API_URL}{}", url.trim_end_matches("/.well-known/openid-configuration")));
}
