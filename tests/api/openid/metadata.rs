//! The metadata matches the behaviour of the endpoints.

use serde_json::json;
use support::TestApp;

use super::RelyingParty;

#[tokio::test]
async fn every_endpoint_of_the_metadata_answers() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let metadata = app.anonymous().get(&format!("/api/v1/projects/{}/.well-known/openid-configuration", app.project_id())).await.json();
    let issuer = rp.issuer();
    for (name, value) in [
        ("issuer", json!(issuer)),
        ("authorization_endpoint", json!(format!("{issuer}/oauth2/authorize"))),
        ("token_endpoint", json!(format!("{issuer}/oauth2/token"))),
        ("userinfo_endpoint", json!(format!("{issuer}/oauth2/userinfo"))),
        ("response_types_supported", json!(["code"])),
        ("response_modes_supported", json!(["query", "form_post"])),
        ("code_challenge_methods_supported", json!(["S256"])),
        ("scopes_supported", json!(["openid", "profile", "email", "teams", "permissions", "offline_access"])),
        ("prompt_values_supported", json!(["none", "login", "consent", "select_account", "create"])),
        ("acr_values_supported", json!(["urn:gatelet:mfa", "urn:gatelet:1fa"])),
        ("id_token_signing_alg_values_supported", json!(["ES256"])),
        ("authorization_response_iss_parameter_supported", json!(true)),
        ("request_uri_parameter_supported", json!(false)),
    ] {
        assert_eq!(metadata[name], value, "{name}");
    }
    let path = |name: &str| metadata[name].as_str().unwrap().split_once("/api/").map(|(_, path)| format!("/api/{path}")).unwrap();
    assert_eq!(app.anonymous().get(&path("authorization_endpoint")).await.status(), 400);
    assert_eq!(app.anonymous().get(&path("userinfo_endpoint")).await.status(), 401);
    assert_eq!(
        app.anonymous().request("POST", &path("token_endpoint")).form(&[("grant_type", "x"), ("client_id", &rp.id)]).send().await.status(),
        400
    );
    assert_eq!(app.anonymous().get(&path("jwks_uri")).await.status(), 200);
    app.admin().post("/api/v1/internal/signing-keys", json!({})).await;
    let metadata = app.anonymous().get(&format!("/api/v1/projects/{}/.well-known/openid-configuration", app.project_id())).await.json();
    assert_eq!(metadata["id_token_signing_alg_values_supported"], json!(["ES256", "RS256"]));
}

#[tokio::test]
async fn the_token_endpoint_also_serves_the_projects_own_keys() {
    let app = TestApp::start().await;
    let rp = RelyingParty::new(&app).await;
    let (project, key) = (app.project_id().as_str(), app.keys.server.clone());
    let fields =
        [("grant_type", "client_credentials"), ("client_id", project), ("client_secret", secrecy::ExposeSecret::expose_secret(&key))];
    let answer = app.anonymous().request("POST", &rp.endpoint("token")).form(&fields).send().await;
    assert_eq!((answer.status(), &answer.json()["scope"]), (200, &json!("server")), "{}", answer.text());
    let refused = rp.token(&[("grant_type", "client_credentials")]).await;
    assert_eq!(refused.json()["error"], "unauthorized_client");
}
