//! `GET /api/v1/projects/{project_id}/.well-known/jwks.json`.

use serde_json::Value;
use support::TestApp;

fn path(project: &str) -> String {
    format!("/api/v1/projects/{project}/.well-known/jwks.json")
}

fn key_ids(set: &Value) -> Vec<String> {
    set["keys"].as_array().unwrap().iter().map(|key| key["kid"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn the_keys_are_public() {
    let app = TestApp::start().await;
    let answer = app.anonymous().get(&path(app.project_id().as_str())).await;
    assert_eq!((answer.status(), answer.header("cache-control")), (200, Some("public, max-age=3600")));
    let set = answer.json();
    assert_eq!(set["keys"].as_array().unwrap().len(), 1);
    let key = set["keys"][0].as_object().unwrap();
    assert_eq!((key["kty"].as_str(), key["crv"].as_str(), key["alg"].as_str()), (Some("EC"), Some("P-256"), Some("ES256")));
    assert!(!key.contains_key("d"), "the private part is not published");
}

#[tokio::test]
async fn the_key_verifies_a_token_of_the_project() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let set = app.anonymous().get(&path(app.project_id().as_str())).await.json();
    let header = jsonwebtoken::decode_header(&ada.access_token).unwrap();
    assert_eq!(header.kid.as_deref(), Some(key_ids(&set)[0].as_str()));
    let key = jsonwebtoken::DecodingKey::from_jwk(&serde_json::from_value(set["keys"][0].clone()).unwrap()).unwrap();
    let mut rules = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::ES256);
    rules.validate_exp = false;
    rules.set_audience(&[app.project_id().as_str()]);
    let token = jsonwebtoken::decode::<Value>(&ada.access_token, &key, &rules).unwrap();
    assert_eq!(token.claims["sub"], ada.user_id.as_str());
}

#[tokio::test]
async fn keys_of_restricted_and_anonymous_users_are_included_on_request() {
    let app = TestApp::start().await;
    let keys = async |query: &str| key_ids(&app.anonymous().get(&format!("{}{query}", path(app.project_id().as_str()))).await.json());
    let (normal, restricted, anonymous) = (keys("").await, keys("?include_restricted=true").await, keys("?include_anonymous=true").await);
    assert_eq!((normal.len(), restricted.len(), anonymous.len()), (1, 2, 3));
    assert_eq!((&restricted[..1], &anonymous[..2]), (&normal[..], &restricted[..]));
    assert_eq!(keys("?include_restricted=false&include_anonymous=false").await, normal);
    assert_eq!(keys("?include_restricted=false&include_anonymous=true").await, anonymous);
}

#[tokio::test]
async fn each_project_has_its_own_keys() {
    let app = TestApp::start().await;
    let other = app.another_project().await;
    let mine = app.anonymous().get(&path(app.project_id().as_str())).await.json();
    let theirs = app.anonymous().get(&path(other.project_id.as_str())).await.json();
    assert_ne!(mine["keys"][0]["x"], theirs["keys"][0]["x"]);
}

#[tokio::test]
async fn an_unknown_project_is_not_found() {
    let app = TestApp::start().await;
    for id in ["00000000-0000-4000-8000-000000000000", "internal", "nonsense"] {
        let answer = app.anonymous().get(&path(id)).await;
        assert_eq!((answer.status(), answer.code().as_str()), (404, "PROJECT_NOT_FOUND"), "{id}");
        assert_eq!(answer.json()["details"]["project_id"], id);
    }
    let answer = app.anonymous().get(&format!("{}?include_anonymous=maybe", path(app.project_id().as_str()))).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
}
