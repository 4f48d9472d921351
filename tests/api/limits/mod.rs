//! Rate limits, with tests about their quotas, their subjects, and the response when a quota is
//! exceeded.

mod codes;
mod counting;
mod day;
mod failures;
mod operations;
mod places;
mod reads;
mod shut_out;
mod sliding;
mod unknown;

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Answer, Caller, TestApp};

pub(crate) const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
pub(crate) const SIGN_IN: &str = "/api/v1/auth/password/sign-in";
const ANONYMOUS: &str = "/api/v1/auth/anonymous/sign-up";
const SEND_RESET: &str = "/api/v1/auth/password/send-reset-code";
const CHECK: &str = "/api/v1/auth/otp/sign-in/check-code";
const REFRESH: &str = "/api/v1/auth/sessions/current/refresh";
const TOKEN: &str = "/api/v1/auth/oauth/token";

/// The limit of one rule. All other limits are off.
fn only(rule: Rule, quota: u32, window: u32) -> Limits {
    Limits::off().with(rule, Some(Rate::new(quota, window)))
}

fn at(caller: Caller, address: &str) -> Caller {
    caller.with("cloudfront-viewer-address", &format!("{address}:4711"))
}

/// A sign-in of an unknown user.
fn nobody(number: usize) -> Value {
    json!({ "email": format!("nobody{number}@example.com"), "password": "correct horse battery" })
}

fn reset_of(email: &str) -> Value {
    json!({ "email": email, "callback_url": "http://localhost:3000/reset" })
}

fn is_refused(answer: &Answer) -> bool {
    answer.status() == 429
}

/// Asserts the response to a limited request, and returns the number of seconds to wait.
fn assert_refused(answer: &Answer, limit: &str, rate: Rate) -> i64 {
    assert_eq!((answer.status(), answer.code().as_str()), (429, "RATE_LIMITED"), "{}", answer.text());
    let body = answer.json();
    let seconds = body["details"]["retry_after_seconds"].as_i64().unwrap();
    assert!((1..=i64::from(rate.window())).contains(&seconds), "{body}");
    assert_eq!(body["details"], json!({ "limit": limit, "retry_after_seconds": seconds }));
    assert_eq!(answer.header("retry-after"), Some(seconds.to_string().as_str()));
    assert_eq!(answer.header("ratelimit-policy"), Some(format!("\"{limit}\";q={};w={}", rate.quota, rate.window()).as_str()));
    assert_eq!(answer.header("ratelimit"), Some(format!("\"{limit}\";r=0;t={seconds}").as_str()));
    // The SDKs do not know this error code, and would throw an exception if a header contained it.
    assert_eq!(answer.header("x-stack-known-error"), None);
    seconds
}

/// Sends requests until one request is limited, and returns the number of permitted requests and
/// the last response.
async fn exhaust<F: Future<Output = Answer>>(mut send: impl FnMut(usize) -> F) -> (usize, Answer) {
    for number in 0.. {
        let answer = send(number).await;
        if is_refused(&answer) {
            return (number, answer);
        }
        assert!(number < 5000, "no request is limited");
    }
    unreachable!("the loop returns")
}

#[tokio::test]
async fn other_addresses_are_not_limited() {
    let app = TestApp::start_with(only(Rule::SignIn, 2, 600)).await;
    let (first, second) = (at(app.client(), "203.0.113.7"), at(app.client(), "203.0.113.8"));
    exhaust(|number| first.post(SIGN_IN, nobody(number))).await;
    assert_eq!(second.post(SIGN_IN, nobody(0)).await.code(), "EMAIL_PASSWORD_MISMATCH");
    assert!(is_refused(&first.post(SIGN_IN, nobody(0)).await));
}

#[tokio::test]
async fn addresses_of_an_ipv6_64_network_count_as_one() {
    let app = TestApp::start_with(only(Rule::SignIn, 4, 600)).await;
    let (let_through, _) = exhaust(|number| {
        let client = at(app.client(), &format!("[2001:db8:1:2:{number:x}::{number:x}]"));
        async move { client.post(SIGN_IN, nobody(number)).await }
    })
    .await;
    assert_eq!(let_through, 4);
    assert!(!is_refused(&at(app.client(), "[2001:db8:1:3::1]").post(SIGN_IN, nobody(0)).await));
}

#[tokio::test]
async fn other_projects_are_not_limited() {
    let app = TestApp::start_with(only(Rule::SignIn, 2, 600)).await;
    let keys = app.another_project().await;
    exhaust(|number| {
        let client = app.client();
        async move { client.post(SIGN_IN, nobody(number)).await }
    })
    .await;
    assert!(!is_refused(&app.client_of(&keys).post(SIGN_IN, nobody(0)).await));
}

#[tokio::test]
async fn a_rejected_request_changes_nothing() {
    let app = TestApp::start_with(only(Rule::SignUp, 1, 600)).await;
    app.sign_up("ada@example.com").await;
    app.recorder.clear();
    let refused = app.client().post(SIGN_UP, json!({ "email": "bob@example.com", "password": "correct horse battery" })).await;
    assert!(is_refused(&refused));
    let mut calls: Vec<String> = app.recorder.calls().into_iter().map(|(operation, _)| operation).collect();
    calls.sort_unstable();
    assert_eq!(calls, ["BatchGetItem", "UpdateItem"]);

    app.advance(SignedDuration::from_secs(600));
    assert_eq!(app.client().post(SIGN_IN, json!({ "email": "bob@example.com", "password": "correct horse battery" })).await.status(), 400);
    app.sign_up("bob@example.com").await;
}

#[tokio::test]
async fn clients_that_require_200_get_the_rate_limit_headers() {
    let app = TestApp::start_with(only(Rule::SignIn, 1, 60)).await;
    let client = app.client().with("x-stack-override-error-status", "true");
    client.post(SIGN_IN, nobody(0)).await;
    let refused = client.post(SIGN_IN, nobody(1)).await;
    assert_eq!((refused.status(), refused.header("x-stack-actual-status")), (200, Some("429")));
    assert!(refused.header("retry-after").is_some());
    assert_eq!(refused.json()["code"], "RATE_LIMITED");
    assert!(refused.header("access-control-expose-headers").unwrap().contains("ratelimit"));
}

#[tokio::test]
async fn disabled_limits_count_nothing() {
    let app = TestApp::start_with(Limits::off()).await;
    for number in 0..70 {
        assert_eq!(app.client().post(SIGN_IN, nobody(number)).await.code(), "EMAIL_PASSWORD_MISMATCH");
    }
    assert!(app.recorder.calls().iter().all(|(_, body)| !body.contains("\"L#")));
}

#[tokio::test]
async fn small_reads_are_never_counted() {
    let one = Rule::ALL.into_iter().fold(Limits::off(), |limits, rule| limits.with(rule, Some(Rate::new(1, 60))));
    let app = TestApp::start_with(one).await;
    let ada = app.sign_up("ada@example.com").await;
    for path in ["/api/v1/users/me", "/api/v1/auth/sessions", "/api/v1/projects/current"] {
        for _ in 0..3 {
            assert_eq!(app.signed_in(&ada).get(path).await.status(), 200);
        }
    }
}

#[tokio::test]
async fn a_network_is_limited_as_a_whole() {
    for (rule, limit, path) in [
        (Rule::SignUpNetwork, "sign-up", SIGN_UP),
        (Rule::AnonymousSignUpNetwork, "anonymous-sign-up", ANONYMOUS),
        (Rule::SendCodeNetwork, "send-code", SEND_RESET),
    ] {
        let app = TestApp::start_with(only(rule, 3, 600)).await;
        let body = |number: usize| match path {
            SIGN_UP => nobody(number),
            ANONYMOUS => json!({}),
            _ => reset_of(&format!("nobody{number}@example.com")),
        };
        for (network, other, first) in [("203.0.113.", "203.0.114.7", 0), ("2001:db8:1:", "2001:db8:2::7", 10)] {
            let address =
                |number: usize| if network.ends_with(':') { format!("{network}{number}::7") } else { format!("{network}{number}") };
            for number in 1..4 {
                assert_eq!(at(app.client(), &address(number)).post(path, body(first + number)).await.status(), 200);
            }
            assert_refused(&at(app.client(), &address(9)).post(path, body(first + 8)).await, limit, Rate::new(3, 600));
            assert_eq!(at(app.client(), other).post(path, body(first + 9)).await.status(), 200);
        }
    }
}

#[tokio::test]
async fn address_tags_and_ignored_dots_count_as_one_recipient() {
    let app = TestApp::start_with(only(Rule::SendCodeRecipient, 2, 600)).await;
    for email in ["ada.l@gmail.com", "a.da.l+news@googlemail.com"] {
        assert_eq!(app.client().post(SEND_RESET, reset_of(email)).await.status(), 200);
    }
    assert!(is_refused(&app.client().post(SEND_RESET, reset_of("adal@gmail.com")).await));
    assert_eq!(app.client().post(SEND_RESET, reset_of("ada.l@example.com")).await.status(), 200);
    assert_eq!(app.client().post(SEND_RESET, reset_of("adal@example.com")).await.status(), 200);
}
