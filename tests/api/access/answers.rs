//! The parts that all product API responses share, such as envelope, headers and CORS, and the
//! responses to unknown paths.

use std::collections::HashSet;

use errors::ErrorCode;
use serde_json::json;
use support::{KeptLog, TestApp};

use super::{ADMIN, CLIENT, HEADERS, SERVER};

/// Request headers that are not in [`HEADERS`], without the prefix of a header family.
const OTHER_HEADERS: [&str; 6] = [
    "refresh-token",
    "client-version",
    "override-error-status",
    "random-nonce",
    "disable-artificial-development-delay",
    "development-disable-extended-logging",
];

/// The elements of a header's comma-separated list.
fn words(list: &str) -> HashSet<String> {
    list.split(',').map(|word| word.trim().to_lowercase()).collect()
}

#[tokio::test]
async fn errors_that_sdks_know_are_named_in_a_header_and_others_only_in_the_body() {
    let app = TestApp::start().await;
    let known = app.anonymous().get(CLIENT).await;
    assert_eq!(known.header("x-stack-known-error"), Some("ACCESS_TYPE_REQUIRED"));
    assert_eq!(known.code(), "ACCESS_TYPE_REQUIRED");
    assert_eq!(known.header("content-type"), Some("application/json; charset=utf-8"));
    let members: Vec<String> = known.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["code", "documentation_url", "error", "hint"], "an error without details has no field for them");

    let ours = [
        app.anonymous().get("/api/v1/nothing").await,
        app.anonymous().post(CLIENT, json!({})).await,
        app.client().with("x-service-access-type", "server").get(CLIENT).await,
        app.client().get("/api/v1/auth/sessions?user_id=7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21").await,
    ];
    let codes = ["ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED", "CONFLICTING_HEADERS", "FORBIDDEN"];
    for (answer, code) in ours.iter().zip(codes) {
        assert_eq!(answer.code(), code);
        assert_eq!((answer.header("x-stack-known-error"), answer.header("x-service-known-error")), (None, None), "{code}");
    }
}

#[tokio::test]
async fn every_response_has_a_unique_request_id() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answers = [
        app.signed_in(&ada).get(CLIENT).await,
        app.signed_in(&ada).get(CLIENT).await,
        app.anonymous().get(CLIENT).await,
        app.anonymous().get("/api/v1/nothing").await,
        app.anonymous().get("/health").await,
    ];
    for answer in &answers {
        assert_eq!(answer.header("x-request-id"), answer.header("x-stack-request-id"));
    }
    let ids: HashSet<&str> = answers.iter().map(|answer| answer.header("x-stack-request-id").unwrap()).collect();
    assert_eq!(ids.len(), answers.len());
    assert!(ids.iter().all(|id| id.len() == 16 && id.bytes().all(|b| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&b))), "{ids:?}");
}

#[tokio::test]
async fn an_old_client_gets_errors_as_200_with_the_status_in_a_header() {
    let app = TestApp::start().await;
    let caller = app.client().with("x-stack-override-error-status", "true");
    let refused = caller.get(CLIENT).await;
    assert_eq!((refused.status(), refused.header("x-stack-actual-status")), (200, Some("400")));
    assert_eq!(refused.header("x-stack-known-error"), Some("CANNOT_GET_OWN_USER_WITHOUT_USER"));
    assert_eq!(refused.json()["code"], "CANNOT_GET_OWN_USER_WITHOUT_USER");
    for (path, status) in [(SERVER, "403"), ("/api/v1/nothing", "404")] {
        let answer = caller.get(path).await;
        assert_eq!((answer.status(), answer.header("x-stack-actual-status")), (200, Some(status)));
    }
    let wrong_key = caller.clone().with("x-stack-publishable-client-key", "x").get(CLIENT).await;
    assert_eq!((wrong_key.status(), wrong_key.header("x-stack-actual-status")), (200, Some("401")));
    assert_eq!(caller.get("/api/v1/projects/current").await.header("x-stack-actual-status"), Some("200"));

    app.recorder.fail_write(0, "AccessDeniedException");
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let failed = caller.post("/api/v1/auth/password/sign-up", body).await;
    assert_eq!((failed.status(), failed.code().as_str()), (500, "INTERNAL_ERROR"), "an internal error keeps its status");
    assert!(!failed.text().contains("AccessDenied"), "the cause is only logged");
}

#[tokio::test]
async fn only_a_401_has_www_authenticate() {
    let app = TestApp::start().await;
    let wrong = app.client().with("x-stack-publishable-client-key", "x").get(CLIENT).await;
    assert_eq!(wrong.status(), 401);
    assert!(wrong.header("www-authenticate").is_some_and(|challenge| !challenge.is_empty()));
    let none = app.anonymous().get(CLIENT).await;
    assert_eq!((none.status(), none.header("www-authenticate").is_some()), (401, true), "missing credentials are a 401 as well");
    assert_eq!(app.client().get(SERVER).await.header("www-authenticate"), None);
}

#[tokio::test]
async fn responses_allow_any_origin_and_are_never_cached() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answers = [
        app.signed_in(&ada).get(CLIENT).await,
        app.anonymous().get(CLIENT).await,
        app.anonymous().get("/api/v1/nothing").await,
        app.anonymous().post(CLIENT, json!({})).await,
    ];
    for answer in answers {
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(answer.header("access-control-allow-credentials"), None);
        let exposed = words(answer.header("access-control-expose-headers").unwrap());
        for family in ["x-service-", "x-stack-", "x-hexclave-"] {
            for suffix in ["known-error", "actual-status", "request-id"] {
                assert!(exposed.contains(&format!("{family}{suffix}")), "{family}{suffix}");
            }
        }
        for name in ["content-type", "retry-after", "etag", "ratelimit", "ratelimit-policy", "x-request-id"] {
            assert!(exposed.contains(name), "{name}");
        }
        assert_eq!(answer.header("cache-control"), Some("no-store, max-age=0"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("SAMEORIGIN"));
        assert_eq!(answer.header("referrer-policy"), Some("strict-origin-when-cross-origin"));
        assert_eq!(answer.header("cross-origin-opener-policy"), Some("same-origin"));
    }
}

#[tokio::test]
async fn a_preflight_allows_the_headers_of_every_family() {
    let app = TestApp::start().await;
    for path in [CLIENT, ADMIN, "/api/v1/nothing", "/api/v1/auth/oauth/token", "/api/v1/apps"] {
        let request = app.anonymous().request("OPTIONS", path).header("origin", "https://app.example.com");
        let request =
            request.header("access-control-request-method", "PATCH").header("access-control-request-headers", "x-stack-project-id");
        let answer = request.send().await;
        assert_eq!((answer.status(), answer.text()), (200, ""), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
        assert_eq!(answer.header("access-control-max-age"), Some("86400"));
        let allowed = words(answer.header("access-control-allow-headers").unwrap());
        for suffix in HEADERS.into_iter().chain(OTHER_HEADERS) {
            for family in ["x-service-", "x-stack-", "x-hexclave-"] {
                assert!(allowed.contains(&format!("{family}{suffix}")), "{family}{suffix}");
            }
        }
        for name in ["content-type", "authorization", "if-match", "ngrok-skip-browser-warning"] {
            assert!(allowed.contains(name), "{name}");
        }
        let methods = words(answer.header("access-control-allow-methods").unwrap());
        assert_eq!(methods, words("GET, POST, PUT, PATCH, DELETE, OPTIONS"));
    }
}

#[tokio::test]
async fn an_unknown_path_is_404_in_the_form_of_its_interface() {
    let app = TestApp::start().await;
    for path in ["/api/v1/nothing", "/api/v1/user", "/api/v1/users/me/", "/api/v1/auth", "/api/v2/users/me", "/api/v1/auth//sessions"] {
        for caller in [app.anonymous(), app.client()] {
            let answer = caller.get(path).await;
            assert_eq!((answer.status(), answer.code().as_str()), (404, "ROUTE_NOT_FOUND"), "{path}");
        }
    }
    for path in ["/nothing", "/api", "/api/v1/apps/a/b", "/api/v1/site/"] {
        let answer = app.anonymous().get(path).await;
        assert_eq!((answer.status(), &answer.json()["error"]["code"]), (404, &json!("route_not_found")), "{path}");
    }
    // If the path is correct except for a trailing slash, the error says so.
    for (path, is_slashed) in [("/api/v1/users/me/", true), ("/api/v1/teams//", true), ("/api/v1/nothing/", false), ("/api/v2/", false)] {
        let answer = app.client().get(path).await;
        assert_eq!(answer.status(), 404, "{path}");
        assert_eq!(answer.json()["error"].as_str().unwrap().contains("remove the trailing slash"), is_slashed, "{path}");
    }
    for (path, is_slashed) in [("/api/v1/apps/", true), ("/api/v1/apps/a/b/", false), ("/api/v1/blog-posts", false)] {
        let hint = app.anonymous().get(path).await.json()["error"]["hint"].clone();
        assert_eq!(hint == "Remove the trailing slash from the path.", is_slashed, "{path}");
    }
    // The error suggests a similar path, but does not quote anything from the request.
    for (path, expected) in [
        ("/api/v1/user", "there is no operation at this path: did you mean GET /api/v1/users?"),
        ("/api/v1/users/me/%3Cscript%3E/x", "there is no operation at this path"),
        ("/api/v1/nothing", "there is no operation at this path"),
    ] {
        assert_eq!(app.anonymous().get(path).await.json()["error"], expected, "{path}");
    }
    let hint = app.anonymous().get("/users/me").await.json()["error"]["hint"].clone();
    assert_eq!(hint, "Did you mean GET /api/v1/users/me?");
    let unread = app.anonymous().request("POST", "/api/v1/nothing").header("content-type", "application/json").body("{").send().await;
    assert_eq!(unread.code(), "ROUTE_NOT_FOUND", "the body is not read");
}

#[tokio::test]
async fn a_wrong_method_is_405_with_the_allowed_methods() {
    let app = TestApp::start().await;
    let cases = [
        ("POST", CLIENT, "DELETE, GET, HEAD, PATCH"),
        ("PUT", ADMIN, "DELETE, GET, HEAD, PATCH"),
        ("GET", "/api/v1/auth/password/sign-up", "POST"),
        ("HEAD", "/api/v1/auth/password/sign-up", "POST"),
        ("POST", "/api/v1/auth/sessions/current", "DELETE"),
        ("DELETE", "/api/v1/auth/oauth/authorize/github", "GET, HEAD"),
        ("PATCH", "/health", "GET, HEAD"),
        ("TRACE", CLIENT, "DELETE, GET, HEAD, PATCH"),
        ("BREW", CLIENT, "DELETE, GET, HEAD, PATCH"),
    ];
    for (method, path, allowed) in cases {
        let answer = app.client().request(method, path).send().await;
        assert_eq!((answer.status(), answer.header("allow")), (405, Some(allowed)), "{method} {path}");
        if method != "HEAD" {
            assert_eq!(answer.code(), "METHOD_NOT_ALLOWED");
        }
    }
    for path in ["/api/v1/apps", "/api/v1/apps/x", "/api/v1/blog-posts", "/api/v1/site"] {
        let answer = app.anonymous().post(path, json!({})).await;
        assert_eq!((answer.status(), answer.header("allow")), (405, Some("GET, HEAD")), "{path}");
        assert_eq!(answer.json()["error"]["code"], "method_not_allowed");
    }
}

#[tokio::test]
async fn head_is_get_without_a_body() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answer = app.signed_in(&ada).request("HEAD", CLIENT).send().await;
    assert_eq!((answer.status(), answer.text()), (200, ""));
}

#[tokio::test]
async fn every_error_has_a_hint_and_a_documentation_url() {
    let app = TestApp::start().await;
    let oauth = app.anonymous().post("/api/v1/auth/oauth/token", json!({ "grant_type": "refresh_token", "refresh_token": "x" })).await;
    let answers = [
        app.anonymous().get(CLIENT).await,
        app.client().get(SERVER).await,
        app.anonymous().get("/api/v1/nothing").await,
        app.anonymous().post(CLIENT, json!({})).await,
        app.client().with("x-stack-override-error-status", "true").get(CLIENT).await,
        oauth,
    ];
    for answer in answers {
        let body = answer.json();
        let code = body["code"].as_str().unwrap();
        assert_eq!(body["hint"], code.parse::<ErrorCode>().unwrap().hint(), "{code}");
        assert_eq!(body["documentation_url"], format!("{}/docs/errors#{code}", app.app.settings.api_url));
    }
}

#[tokio::test]
async fn an_internal_error_has_the_request_id_of_the_log() {
    let app = TestApp::start().await;
    app.recorder.fail_write(0, "AccessDeniedException");
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    let failed = app.client().post("/api/v1/auth/password/sign-up", body).await;
    assert_eq!((failed.status(), failed.json()["request_id"].as_str()), (500, failed.header("x-request-id")));
    assert!(failed.header("x-request-id").is_some());
    assert_eq!(app.client().get(SERVER).await.json().get("request_id"), None, "a client error has no request id in its body");
}

#[tokio::test]
async fn an_internal_error_is_logged_with_its_cause() {
    let app = TestApp::start().await;
    let (kept, body) = (KeptLog::default(), json!({ "email": "ada@example.com", "password": "correct horse battery" }));
    let _kept = kept.keep();
    app.recorder.fail_write(0, "AccessDeniedException");
    let failed = app.client().post("/api/v1/auth/password/sign-up", body).await;
    assert_eq!(failed.status(), 500);
    let log = kept.text();
    let line = log.lines().find(|line| line.contains("an operation failed")).unwrap_or_else(|| panic!("no failure was logged: {log}"));
    let fields: serde_json::Value = serde_json::from_str(line).unwrap();
    assert_eq!(fields["level"], "ERROR");
    assert!(line.contains("AccessDenied") && line.contains(failed.header("x-request-id").unwrap()), "{line}");
    assert!(!log.contains("correct horse") && !log.contains("ada@example.com"), "{log}");
}
