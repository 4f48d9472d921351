//! The key sets below the issuers of tokens for restricted and anonymous users.

use support::{API_URL, TestApp};

#[tokio::test]
async fn issuers_of_restricted_and_anonymous_users_lead_to_their_keys() {
    let app = TestApp::start().await;
    let project = app.project_id().as_str();
    for (kind, keys) in [("restricted", 2), ("anonymous", 3)] {
        let answer = app.anonymous().get(&format!("/api/v1/projects-{kind}-users/{project}/.well-known/jwks.json")).await;
        assert_eq!((answer.status(), answer.header("cache-control")), (307, Some("public, max-age=3600")));
        let location = answer.header("location").unwrap();
        assert_eq!(location, format!("{API_URL}/api/v1/projects/{project}/.well-known/jwks.json?include_{kind}=true"));
        let set = app.anonymous().get(location.strip_prefix(API_URL).unwrap()).await.json();
        assert_eq!(set["keys"].as_array().unwrap().len(), keys);
    }
}

#[tokio::test]
async fn unknown_projects_have_no_keys() {
    let app = TestApp::start().await;
    for id in ["nonsense", "%0d%0aset-cookie:a", "..%2f..%2fx"] {
        let answer = app.anonymous().get(&format!("/api/v1/projects-anonymous-users/{id}/.well-known/jwks.json")).await;
        assert_eq!((answer.status(), answer.code().as_str(), answer.header("location")), (404, "PROJECT_NOT_FOUND", None), "{id}");
    }
    let unknown = app.anonymous().get("/api/v1/projects-anonymous-users/5d0c8a3e-7b1f-4c2d-9e6a-1f2b3c4d5e6f/.well-known/jwks.json").await;
    let there = app.anonymous().get(unknown.header("location").unwrap().strip_prefix(API_URL).unwrap()).await;
    assert_eq!(there.status(), 404);
}
