//! Every operation with invalid paths, queries, bodies and headers.

use api::http::{BodyRule, Interface, Route};
use registry::routes;
use support::{Caller, TestApp};

use super::{assert_is_answered, assert_untouched, project_settings};

const UUID: &str = "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21";

/// Values that replace a path parameter.
const PARAMETERS: [&str; 10] = ["x", UUID, "me", "..%2f..", "%2e%2e", "a%2Fb", "%00", "%ff%fe", "%F0%9F%92%A1", "%25%7B%7D"];

const QUERIES: [&str; 12] = [
    "",
    "?",
    "?unknown=1",
    "?limit=1&limit=2&cursor=x&cursor=y",
    "?limit=-1",
    "?limit=99999999999999999999999",
    "?cursor=%ff%fe%00",
    "?cursor=%F0%9F%92%A1",
    "?user_id=..%2f..%2f&user_id=me",
    "?=&&==&%=%zz&%",
    "?user_id[]=1&user_id[a]=2",
    "?client_id=x&client_secret=x&redirect_uri=http://localhost&scope=x&state=x&grant_type=authorization_code&code_challenge=x&code_challenge_method=S256&response_type=code",
];

const BODIES: [(&str, &[u8]); 26] = [
    ("application/json", b""),
    ("application/json", b"{"),
    ("application/json", b"null"),
    ("application/json", b"true"),
    ("application/json", b"[]"),
    ("application/json", b"\"text\""),
    ("application/json", b"1e999"),
    ("application/json", b"{}"),
    ("application/json", b"{}{}"),
    ("application/json", b"{\"a\":1,}"),
    ("application/json", b"\xef\xbb\xbf{}"),
    ("application/json", b"{\"email\":\"\xff\xfe\"}"),
    ("application/json", b"{\"email\":\"\\ud800\"}"),
    ("application/json", b"{\"email\":\"a\\u0000@example.com\",\"password\":\"\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\"}"),
    ("application/json", b"{\"email\":1,\"password\":[],\"code\":{},\"config\":\"x\",\"grant_type\":null}"),
    ("application/json", b"{\"__proto__\":{},\"constructor\":{},\"$where\":\"1\"}"),
    ("application/json; charset=utf-16", b"{\"a\":1}"),
    ("text/plain", b"{}"),
    ("text/plain", b"\xff"),
    ("application/octet-stream", b"\x00\x01"),
    ("application/x-www-form-urlencoded", b"email=%ff&email=x&%&=&code=%00"),
    ("multipart/form-data; boundary=x", b"--x--"),
    ("application/xml", b"<a/>"),
    ("", b"{}"),
    (";;;", b"{}"),
    ("café", b"{}"),
];

/// Header values that no client sends.
const HEADERS: [(&str, &str); 12] = [
    ("x-stack-project-id", "käse"),
    ("x-stack-project-id", "../../x"),
    ("x-stack-access-type", "root"),
    ("x-stack-access-token", "a.b.c"),
    ("x-stack-refresh-token", "ü"),
    ("x-stack-branch-id", "../main"),
    ("x-stack-admin-access-token", "e30.e30.e30"),
    ("x-stack-client-version", "ü"),
    ("x-service-project-id", "another"),
    ("if-match", "\"\u{ff}\""),
    ("cloudfront-viewer-latitude", "NaN"),
    ("cloudfront-viewer-address", ":"),
];

fn callers(app: &TestApp) -> [Caller; 4] {
    [app.anonymous(), app.client(), app.server(), app.admin()]
}

fn path(route: &Route, parameter: &str) -> String {
    let segments = route.path.split('/').map(|segment| if segment.starts_with('{') { parameter } else { segment });
    segments.collect::<Vec<_>>().join("/")
}

/// The unusual parts of a request.
#[derive(Clone, Copy)]
struct Variation {
    parameter: &'static str,
    query: &'static str,
    body: (&'static str, &'static [u8]),
    header: Option<(&'static str, &'static str)>,
}

const USUAL: Variation = Variation { parameter: UUID, query: "", body: ("application/json", b"{}"), header: None };

/// Sends a request to each of these operations as each of the callers, and checks each response.
/// The operation that deletes the project is not called as an administrator.
async fn send(routes: impl Iterator<Item = &Route>, callers: &[Caller], sent: Variation) {
    for route in routes {
        let path = format!("{}{}", path(route, sent.parameter), sent.query);
        // A DELETE by an administrator could delete the project, which the other requests need.
        let deletes = route.name == "projects-internal-current-delete";
        for caller in callers.iter().take(if deletes { 3 } else { 4 }) {
            let mut request = caller.request(route.verb.name(), &path).header("content-type", sent.body.0).body(sent.body.1);
            if let Some((name, value)) = sent.header {
                request = request.header(name, value);
            }
            let answer = request.send().await;
            let what = format!("{} {path} {:?} {:?}", route.name, sent.body, sent.header);
            assert_is_answered(&answer, route.interface, &what);
        }
    }
}

fn reads_body(route: &Route) -> bool {
    !matches!(route.verb.name(), "GET" | "HEAD") && route.body != BodyRule::Ignored
}

#[tokio::test]
async fn no_body_causes_an_internal_error() {
    let app = TestApp::start_unobserved().await;
    let settings = project_settings(&app).await;
    let callers = callers(&app);
    send(routes().iter(), &callers, USUAL).await;
    for body in BODIES {
        let sent = Variation { body, ..USUAL };
        send(routes().iter().filter(|route| reads_body(route)), &callers, sent).await;
        // For operations that do not read the body, the request with the usual body has already
        // shown how callers differ.
        send(routes().iter().filter(|route| !reads_body(route)), &callers[3..], sent).await;
    }
    assert_untouched(&app, &settings).await;
}

#[tokio::test]
async fn every_operation_that_reads_a_body_says_that_it_decodes_none() {
    let app = TestApp::start().await;
    let settings = project_settings(&app).await;
    for route in routes().iter().filter(|route| reads_body(route)) {
        let request = app.admin().request(route.verb.name(), &path(route, UUID)).header("content-type", "application/json");
        let answer = request.header("content-encoding", "gzip").body(&b"\x1f\x8b\x08\0\0\0\0\0"[..]).send().await;
        assert_eq!(answer.status(), 415, "{}", route.name);
        let is_said = answer.text().contains("without `content-encoding`") || route.interface == Interface::Pages;
        assert!(is_said, "{}: {}", route.name, answer.text());
    }
    assert_untouched(&app, &settings).await;
}

#[tokio::test]
async fn no_query_or_path_causes_an_internal_error() {
    let app = TestApp::start_unobserved().await;
    let settings = project_settings(&app).await;
    let callers = callers(&app);
    for query in QUERIES {
        send(routes().iter(), &callers, Variation { parameter: "x", query, ..USUAL }).await;
    }
    // Paths without parameters are always complete, and were requested above.
    let has_parameter = |route: &&Route| route.path.contains('{');
    assert!(routes().iter().filter(has_parameter).count() > 50);
    for parameter in PARAMETERS {
        send(routes().iter().filter(has_parameter), &callers, Variation { parameter, ..USUAL }).await;
    }
    assert_untouched(&app, &settings).await;
}

#[tokio::test]
async fn no_header_causes_an_internal_error() {
    let app = TestApp::start_unobserved().await;
    let settings = project_settings(&app).await;
    let callers = callers(&app);
    for header in HEADERS {
        send(routes().iter(), &callers, Variation { header: Some(header), ..USUAL }).await;
    }
    assert_untouched(&app, &settings).await;
}

#[tokio::test]
async fn a_path_that_resembles_an_operation_s_is_an_error_of_its_interface() {
    let app = TestApp::start().await;
    let content = ["//", "/api/v1/apps/..%2fsite", "/api/v1/apps/%2e%2e", "/api/v1/apps/%ff", "/%ff", "/apps/%00", "/api/v1/site%2f"];
    let product = [
        "/api/v1/%2e%2e/health",
        "/api/v1/users%2fme",
        "/api/v1/projects/current%2f",
        "/api/v1/projects/%ff",
        "/api/v1//users/me",
        "/API/v1/users/me",
        "/api/v1/projects/current;x=1",
    ];
    for method in ["GET", "POST", "PATCH", "DELETE", "PUT"] {
        for path in content.iter().chain(&product) {
            let answer = app.client().request(method, path).send().await;
            let interface = registry::interface(path);
            assert!([404, 405].contains(&answer.status()), "{method} {path}: {}", answer.status());
            assert_is_answered(&answer, interface, path);
        }
    }
}

#[tokio::test]
async fn operations_that_are_not_public_reject_unauthenticated_requests() {
    let app = TestApp::start().await;
    let open = [
        "auth-challenge-create",
        "auth-not-me",
        "auth-oauth-authorize",
        "auth-oauth-callback",
        "auth-oauth-client-",
        "auth-oauth-device-authorize",
        "auth-oauth-token",
        "keys-exposed-key-revoke",
        "openid-client-register",
        "openid-userinfo-",
        "projects-issuer-metadata-",
        "projects-jwks-",
        "projects-related-origins-read",
        "users-user-image-read",
        "teams-team-image-read",
        "edge-",
        "emails-unsubscribe",
        "users-contact-channel-release",
    ];
    for route in
        routes().iter().filter(|route| route.interface == Interface::Product && !open.iter().any(|start| route.name.starts_with(start)))
    {
        let anonymous = app.anonymous().request(route.verb.name(), &path(route, UUID)).send().await;
        assert_eq!((anonymous.status(), anonymous.code().as_str()), (401, "ACCESS_TYPE_REQUIRED"), "{}", route.name);
        let wrong = app.admin().with("x-stack-super-secret-admin-key", "x").request(route.verb.name(), &path(route, UUID)).send().await;
        assert_eq!((wrong.status(), wrong.code().as_str()), (401, "INVALID_SUPER_SECRET_ADMIN_KEY"), "{}", route.name);
    }
}
