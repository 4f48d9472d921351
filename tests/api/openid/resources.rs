//! Access tokens for resources (RFC 8707).

use serde_json::{Value, json};
use support::TestApp;

use super::{RelyingParty, assert_error, claims, signed_in, text};
use crate::hosted::query_of;

const RESOURCES: &str = "/api/v1/internal/oauth-resources";
const NOTES: &str = "https://mcp.example.com/mcp";
const LETTERS: &str = "https://letters.example.com";

async fn create(app: &TestApp, identifier: &str, scopes: &[&str]) -> Value {
    let scopes: Vec<Value> = scopes.iter().map(|name| json!({ "name": name, "description": format!("May {name}") })).collect();
    let created = app.admin().post(RESOURCES, json!({ "identifier": identifier, "name": "Notes server", "scopes": scopes })).await;
    assert_eq!(created.status(), 201, "{}", created.text());
    created.json()
}

/// The fields of a request that redeems a code, with a resource.
fn redeeming<'a>(rp: &'a RelyingParty<'_>, code: &'a str, resource: &'a str) -> Vec<(&'a str, &'a str)> {
    let usual = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", rp.redirect_uri.as_str())];
    usual.into_iter().chain([("code_verifier", super::VERIFIER), ("resource", resource)]).collect()
}

#[tokio::test]
async fn an_administrator_manages_resources() {
    let app = TestApp::start().await;
    let admin = app.admin();
    let created = create(&app, "HTTPS://MCP.example.com/mcp", &["notes:read"]).await;
    assert_eq!((&created["identifier"], &created["scopes"][0]["description"]), (&json!(NOTES), &json!("May notes:read")));
    let again = admin.post(RESOURCES, json!({ "identifier": NOTES, "name": "Again" })).await;
    assert_error(&again, 409, "OAUTH_RESOURCE_ALREADY_EXISTS");
    create(&app, "https://mcp.example.com/mcp/", &[]).await;
    let listed = admin.get(RESOURCES).await.json();
    let identifiers: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|item| &item["identifier"]).collect();
    assert_eq!(identifiers, [&json!(NOTES), &json!("https://mcp.example.com/mcp/")], "a slash makes another resource");
    let path = format!("{RESOURCES}/{}", text(&created["id"]));
    let changed = admin.patch(&path, json!({ "name": "Minutes", "scopes": [], "access_token_seconds": 120 })).await.json();
    assert_eq!((&changed["name"], &changed["scopes"], &changed["access_token_seconds"]), (&json!("Minutes"), &json!([]), &json!(120)));
    for (body, field) in [
        (json!({ "identifier": LETTERS }), "body.identifier"),
        (json!({ "name": "" }), "body.name"),
        (json!({ "access_token_seconds": 59 }), "body.access_token_seconds"),
        (json!({ "signing_algorithm": "RS256" }), "body.signing_algorithm"),
        (json!({ "scopes": [{ "name": "email", "description": "x" }] }), "body.scopes[0].name"),
    ] {
        let refused = admin.patch(&path, body).await;
        assert_eq!(refused.status(), 400);
        assert!(refused.text().contains(field), "{field}: {}", refused.text());
    }
    assert_eq!(admin.delete(&path).await.status(), 200);
    assert_error(&admin.delete(&path).await, 404, "OAUTH_RESOURCE_NOT_FOUND");
    assert_error(&admin.get(&path).await, 404, "OAUTH_RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn a_token_is_valid_for_the_resource_that_the_user_has_seen() {
    let app = TestApp::start().await;
    create(&app, NOTES, &["notes:read", "notes:write"]).await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let changes = [("resource", NOTES), ("scope", "openid offline_access notes:read unknown")];
    let page = rp.page(&browser, &changes).await.text().to_owned();
    for part in ["Notes server", "mcp.example.com", "May notes:read"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("May notes:write"));
    let code = rp.code(&browser, &changes).await;
    let tokens = rp.token(&redeeming(&rp, &code, "https://MCP.example.com/mcp")).await.json();
    let access = claims(&tokens["access_token"]);
    assert_eq!((&access["aud"], &access["scope"], &tokens["scope"]), (&json!(NOTES), &json!("notes:read"), &json!("notes:read")));
    assert_eq!(claims(&tokens["id_token"])["aud"], json!(rp.id));
    // Neither the API nor the userinfo endpoint accepts the token.
    let token = text(&tokens["access_token"]);
    assert_eq!(rp.userinfo(&token).await.status(), 401);
    assert_ne!(app.client().with("x-service-access-token", &token).get("/api/v1/users/me").await.status(), 200);
    let secret = rp.secret.clone().unwrap();
    let form = [("client_id", rp.id.as_str()), ("client_secret", &secret), ("token", &token)];
    let introspected = app.anonymous().request("POST", &rp.endpoint("introspect")).form(&form).send().await.json();
    assert_eq!((&introspected["active"], &introspected["aud"]), (&json!(true), &json!(NOTES)));
    // The grant lists the resource, and consent is remembered for it.
    let user = text(&access["sub"]);
    let grants = app.server().get(&format!("/api/v1/users/{user}/grants")).await.json();
    assert_eq!(grants["items"][0]["resources"], json!([{ "resource": NOTES, "scopes": ["notes:read"] }]));
    assert_eq!(rp.page(&browser, &changes).await.status(), 303);
    let more = [("resource", NOTES), ("scope", "openid notes:read notes:write")];
    assert_eq!(rp.page(&browser, &more).await.status(), 200, "more scopes need consent");
    // A refresh gets a token for the same resource, with fewer scopes if the client wants.
    let refreshed = rp.refresh(&text(&tokens["refresh_token"])).await.json();
    assert_eq!(claims(&refreshed["access_token"])["aud"], json!(NOTES));
}

#[tokio::test]
async fn a_first_party_clients_token_for_a_resource_does_not_open_the_api() {
    let app = TestApp::start().await;
    create(&app, NOTES, &["notes:read"]).await;
    let rp = RelyingParty::with(&app, json!({ "is_first_party": true })).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let code = rp.code(&browser, &[("resource", NOTES), ("scope", "openid notes:read")]).await;
    let tokens = rp.token(&redeeming(&rp, &code, NOTES)).await.json();
    let token = text(&tokens["access_token"]);
    assert_eq!(claims(&tokens["access_token"])["aud"], json!(NOTES));
    assert_eq!(app.client().with("x-service-access-token", &token).get("/api/v1/users/me").await.status(), 401);
}

#[tokio::test]
async fn with_several_resources_each_token_is_for_one() {
    let app = TestApp::start().await;
    create(&app, NOTES, &["read"]).await;
    create(&app, LETTERS, &["read", "send"]).await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let changes = [("resource", NOTES), ("resource", LETTERS), ("scope", "offline_access read send")];
    let code = rp.code(&browser, &changes).await;
    for (resource, error) in [("", "invalid_target"), ("https://other.example", "invalid_target"), ("nonsense", "invalid_target")] {
        let fields: Vec<_> = redeeming(&rp, &code, resource).into_iter().filter(|(_, value)| !value.is_empty()).collect();
        let answer = rp.token(&fields).await;
        assert_eq!((answer.status(), &answer.json()["error"]), (400, &json!(error)), "{resource}: {}", answer.text());
    }
    let both: Vec<_> = redeeming(&rp, &code, NOTES).into_iter().chain([("resource", LETTERS)]).collect();
    assert_eq!(rp.token(&both).await.json()["error"], "invalid_target");
    let tokens = rp.token(&redeeming(&rp, &code, NOTES)).await.json();
    assert_eq!(claims(&tokens["access_token"])["scope"], json!("read"), "the code is still unused after the refusals");
    let refresh = |token: &Value, resource: &'static str, scope: &'static str| {
        let token = text(token);
        let fields = [("grant_type", "refresh_token".to_owned()), ("refresh_token", token), ("resource", resource.to_owned())];
        let fields: Vec<_> = fields.into_iter().chain([("scope", scope.to_owned())]).filter(|(_, value)| !value.is_empty()).collect();
        let rp = &rp;
        async move { rp.token(&fields.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>()).await.json() }
    };
    assert_eq!(refresh(&tokens["refresh_token"], "", "").await["error"], "invalid_target");
    assert_eq!(refresh(&tokens["refresh_token"], NOTES, "send").await["error"], "invalid_scope", "a scope of the other resource");
    let letters = refresh(&tokens["refresh_token"], LETTERS, "send").await;
    let access = claims(&letters["access_token"]);
    assert_eq!((&access["aud"], &access["scope"]), (&json!(LETTERS), &json!("send")), "{letters}");
}

#[tokio::test]
async fn an_unknown_or_deleted_resource_is_an_invalid_target() {
    let app = TestApp::start().await;
    let created = create(&app, NOTES, &["read"]).await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    for resource in ["https://mcp.example.com/mcp/", "https://other.example", "urn:notes", "https://mcp.example.com/mcp#a"] {
        let location = rp.authorize(&browser, &[("resource", resource)]).await.header("location").unwrap().to_owned();
        assert_eq!(query_of(&location)["error"], "invalid_target", "{resource}");
    }
    let request = rp.request(&browser, &[("resource", NOTES)]).await;
    let code = rp.code(&browser, &[("resource", NOTES), ("scope", "openid read")]).await;
    assert_eq!(app.admin().delete(&format!("{RESOURCES}/{}", text(&created["id"]))).await.status(), 200);
    assert_eq!(rp.token(&redeeming(&rp, &code, NOTES)).await.json()["error"], "invalid_target");
    let answer = browser.submit("authorize", &[("request", &request)], &[("action", "allow")]).await;
    assert_eq!(query_of(answer.header("location").unwrap())["error"], "invalid_target");
}

#[tokio::test]
async fn scopes_that_a_resource_no_longer_has_are_left_out() {
    let app = TestApp::start().await;
    let created = create(&app, NOTES, &["read", "write"]).await;
    let rp = RelyingParty::new(&app).await;
    let browser = signed_in(&app, "ada@example.com").await;
    let code = rp.code(&browser, &[("resource", NOTES), ("scope", "read write")]).await;
    let path = format!("{RESOURCES}/{}", text(&created["id"]));
    app.admin().patch(&path, json!({ "scopes": [{ "name": "read", "description": "Read" }], "access_token_seconds": 90 })).await;
    let tokens = rp.token(&redeeming(&rp, &code, NOTES)).await.json();
    assert_eq!((&tokens["scope"], &tokens["expires_in"]), (&json!("read"), &json!(90)));
}
