//! The greeting, the versions, the features, the URLs, the allowed methods, the errors page and the
//! console.

use api::content::Problem;
use errors::KnownError;
use serde_json::json;
use support::{API_URL, Answer, TestApp};
use tower::ServiceExt as _;

#[tokio::test]
async fn the_greeting_reports_the_verified_credentials() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let project = app.project_id().as_str();
    let cases = [
        (app.anonymous(), ["Access: none", "Project: none"].map(str::to_owned)),
        (app.client(), ["Access: client".to_owned(), format!("Project: {project}")]),
        // The greeting does not check the access token.
        (app.signed_in(&ada), ["Access: client".to_owned(), format!("Project: {project}")]),
        (app.server(), ["Access: server".to_owned(), format!("Project: {project}")]),
        (app.admin(), ["Access: admin".to_owned(), format!("Project: {project}")]),
    ];
    for (caller, lines) in cases {
        let answer = caller.get("/api/v1").await;
        assert_eq!((answer.status(), answer.header("content-type")), (200, Some("text/plain; charset=utf-8")));
        for line in lines {
            assert!(answer.text().lines().any(|found| found == line), "{line} is not in {}", answer.text());
        }
    }
}

#[tokio::test]
async fn the_greeting_reports_no_invalid_credentials() {
    let app = TestApp::start().await;
    let wrong = app.server().with("x-stack-secret-server-key", "ssk_wrong").get("/api/v1").await;
    assert_eq!((wrong.status(), wrong.code().as_str()), (401, "INVALID_SECRET_SERVER_KEY"));
    let unknown = app.anonymous().get("/api/v1?nonsense=1").await;
    assert_eq!((unknown.status(), unknown.code().as_str()), (400, "SCHEMA_ERROR"));
    assert!(unknown.text().contains("query.nonsense"), "{}", unknown.text());
    let post = app.anonymous().post("/api/v1", json!({})).await;
    assert_eq!((post.status(), post.header("allow")), (405, Some("GET, HEAD")));
}

#[tokio::test]
async fn a_version_is_up_to_date_when_none_is_newer() {
    let app = TestApp::start().await;
    let check = async |version: &str| app.anonymous().post("/api/v1/check-version", json!({ "clientVersion": version })).await;
    assert_eq!(check(env!("CARGO_PKG_VERSION")).await.json(), json!({ "upToDate": true }));
    assert_eq!(check("999.0.0").await.json(), json!({ "upToDate": true }));
    let old = check("0.0.1").await.json();
    assert_eq!((&old["upToDate"], &old["severe"]), (&json!(false), &json!(true)));
    assert!(old["error"].as_str().unwrap().contains("0.0.1"), "{old}");
    for version in ["", "one", "1.2", "1.2.3.4"] {
        assert_eq!(check(version).await.code(), "SCHEMA_ERROR", "{version}");
    }
    assert_eq!(app.anonymous().post("/api/v1/check-version", json!({})).await.code(), "SCHEMA_ERROR");
}

#[tokio::test]
async fn a_requested_feature_is_named_in_the_response() {
    let app = TestApp::start().await;
    let body = json!({ "name": "danceOnTable()", "userId": "x", "options": { "fast": true } });
    let answer = app.client().post("/api/v1/check-feature-support", body).await;
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("text/plain; charset=utf-8")));
    assert!(answer.text().contains("danceOnTable()"), "{}", answer.text());
    let long = app.client().post("/api/v1/check-feature-support", json!({ "name": "ä\n".repeat(1000) })).await;
    assert!(long.text().len() < 400, "{}", long.text());
    assert_eq!(app.client().post("/api/v1/check-feature-support", json!({ "name": 1 })).await.code(), "SCHEMA_ERROR");
}

#[tokio::test]
async fn the_api_url_is_that_of_the_deployment() {
    let app = TestApp::start().await;
    let answer = app.anonymous().get("/api/v1/internal/backend-urls").await;
    assert_eq!((answer.status(), answer.json()), (200, json!({ "urls": [API_URL] })));
    let elsewhere = app.anonymous().with("host", "evil.example").get("/api/v1/internal/backend-urls").await;
    assert_eq!(elsewhere.json(), json!({ "urls": [API_URL] }));
}

#[tokio::test]
async fn a_path_allows_the_methods_of_the_best_matching_operation() {
    let app = TestApp::start().await;
    let answer = app.anonymous().get("/api/v1/contact-channels/verify/check-code").await;
    assert_eq!((answer.status(), answer.header("allow")), (405, Some("POST")));
    let path = "/api/v1/contact-channels/me/5d0c8a3e-7b1f-4c2d-9e6a-1f2b3c4d5e6f";
    let answer = app.anonymous().post(path, json!({})).await;
    assert_eq!((answer.status(), answer.header("allow")), (405, Some("DELETE, GET, HEAD, PATCH")));
}

/// The pages are those of a deployment; a gateway has a different page at the root.
#[tokio::test]
async fn every_error_links_to_an_existing_page() {
    let app = TestApp::start().await;
    let router = registry::fallback::router(&app.app).with_state(app.app.clone());
    let refused = app.client().get("/api/v1/users").await.json();
    let (page, code) = refused["documentation_url"].as_str().unwrap().split_once('#').unwrap();
    let path = page.strip_prefix(API_URL).unwrap();
    let request = http::Request::get(path).body(axum::body::Body::empty()).unwrap();
    let answer = Answer::read(router.clone().oneshot(request).await.unwrap()).await;
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(answer.text().contains(&format!("<p id=\"{code}\">")) && answer.text().contains(&refused["hint"].as_str().unwrap()[..20]));
    for code in KnownError::CODES.iter().copied().chain(Problem::ALL.map(Problem::code)) {
        assert!(answer.text().contains(&format!("<p id=\"{code}\">")), "{code}");
    }
    let wrong = http::Request::post(path).body(axum::body::Body::empty()).unwrap();
    assert_eq!(router.oneshot(wrong).await.unwrap().status(), 404);
}

#[tokio::test]
async fn the_console_of_a_deployment_has_no_data_and_calls_its_own_origin() {
    let app = TestApp::start().await;
    let router = registry::fallback::with_console(registry::fallback::router(&app.app)).with_state(app.app.clone());
    let send = async |method: &str, path: &str, headers: &[(&str, &str)], body: &'static str| {
        let request =
            headers.iter().fold(http::Request::builder().method(method).uri(path), |request, (name, value)| request.header(*name, *value));
        let answer = router.clone().oneshot(request.body(axum::body::Body::from(body)).unwrap()).await.unwrap();
        let (head, body) = answer.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        (head, String::from_utf8(body.to_vec()).unwrap())
    };

    for path in ["/console", "/console/password-reset?code=x", "/console/internal/users?q=ada"] {
        let (head, page) = send("GET", path, &[], "").await;
        assert_eq!((head.status.as_u16(), head.headers["content-type"].to_str().unwrap()), (200, "text/html; charset=utf-8"));
        assert!(head.headers["content-security-policy"].to_str().unwrap().contains("connect-src 'self'"));
        assert_eq!(head.headers["referrer-policy"], "no-referrer", "the URL may contain a code");
        assert!(!head.headers.contains_key("access-control-allow-origin"));
        assert!(page.contains("/main.js\"") && !page.contains('{'), "{page}");
    }
    let html = [("content-type", "application/x-www-form-urlencoded"), ("sec-fetch-site", "same-origin")];
    let (head, _) = send("POST", "/console/preview", &html[..1], "html=%3Cb%3E").await;
    assert_eq!(head.status, 403, "a request that does not come from the console is refused");
    let (head, shown) = send("POST", "/console/preview", &html, "html=%3Cb%3Ehello").await;
    assert!(shown.ends_with("<b>hello") && head.headers["content-security-policy"].to_str().unwrap().contains("sandbox"));
    for path in ["/console/assets/1/nothing.js", "/api/v1/console", "/api/v1/nothing"] {
        assert_eq!(send("GET", path, &[], "").await.0.status, 404, "{path}");
    }
    // Only a gateway returns a project's keys, and only to callers who have its page key or its
    // console token.
    let (_, answer) = send("GET", "/console/session", &[], "").await;
    assert!(!answer.contains("super_secret"));
}
