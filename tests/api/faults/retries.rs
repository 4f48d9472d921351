//! Transient failures (throttling, conflicting transactions, status 5xx and lost connections) are
//! retried.

use std::time::{Duration, Instant};

use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::{Answer, InjectedError, TestApp, refused};

const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const SESSIONS: &str = "/api/v1/auth/sessions";

fn ada() -> Value {
    json!({ "email": "ada@example.com", "password": "correct horse battery" })
}

async fn sign_up(app: &TestApp) -> Answer {
    app.client().post(SIGN_UP, ada()).await
}

/// The error for a transaction cancelled by DynamoDB, with a reason for each item.
fn cancelled(reasons: &[&str]) -> InjectedError {
    let reasons: Vec<Value> = reasons.iter().map(|code| json!({ "Code": code })).collect();
    let kind = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
    let body = json!({ "__type": kind, "message": "injected by a test", "CancellationReasons": reasons });
    InjectedError::Refused { status: 400, body: body.to_string() }
}

/// Failures that are transient for every call.
fn passing() -> Vec<InjectedError> {
    let kinds = [
        "ProvisionedThroughputExceededException",
        "ThrottlingException",
        "RequestLimitExceeded",
        "InternalServerError",
        "ServiceUnavailable",
    ];
    let gateway = InjectedError::Refused { status: 502, body: "<html>Bad Gateway</html>".to_owned() };
    kinds.into_iter().map(refused).chain([gateway, InjectedError::NotMade]).collect()
}

/// The tokens of the transactions that were sent.
fn tokens(app: &TestApp) -> Vec<String> {
    let bodies = app.recorder.writes().into_iter().filter(|(operation, _)| operation == "TransactWriteItems").map(|(_, body)| body);
    bodies.map(|body| serde_json::from_str::<Value>(&body).unwrap()["ClientRequestToken"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn transient_failures_go_unnoticed() {
    for fault in passing() {
        let app = TestApp::start().await;
        app.recorder.break_calls(3, fault.clone());
        assert_eq!(sign_up(&app).await.status(), 200, "{fault:?} on a read");
        assert!(app.recorder.is_done());
        app.recorder.break_writes(0, 3, fault.clone());
        assert_eq!(app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.status(), 200, "{fault:?} on a write");
        assert!(app.recorder.is_done());
    }
}

#[tokio::test]
async fn conflicting_transactions_are_retried() {
    let single = ["TransactionConflictException", "TransactionInProgressException"].map(refused);
    let reasons =
        [&["None", "TransactionConflict"][..], &["ThrottlingError", "None"], &["TransactionConflict", "ProvisionedThroughputExceeded"]];
    for fault in reasons.into_iter().map(cancelled).chain(single) {
        let app = TestApp::start().await;
        app.recorder.break_writes(0, 3, fault.clone());
        assert_eq!(sign_up(&app).await.status(), 200, "{fault:?}");
        let tokens = tokens(&app);
        assert_eq!((tokens.len(), tokens.iter().all(|token| *token == tokens[0])), (4, true), "the same transaction is sent four times");
    }
}

#[tokio::test]
async fn a_failed_condition_is_not_retried() {
    let app = TestApp::start().await;
    app.recorder.break_writes(0, 1, cancelled(&["ConditionalCheckFailed", "TransactionConflict"]));
    assert_eq!(sign_up(&app).await.code(), "USER_EMAIL_ALREADY_EXISTS");
    assert_eq!(app.recorder.writes().len(), 1);
    assert_eq!(sign_up(&app).await.status(), 200);
}

#[tokio::test]
async fn persistent_failures_are_answered_with_retry_after() {
    for fault in [refused("ThrottlingException"), cancelled(&["TransactionConflict"]), InjectedError::NotMade] {
        let app = TestApp::start().await;
        app.recorder.break_writes(0, usize::MAX, fault.clone());
        let started = Instant::now();
        let answer = sign_up(&app).await;
        assert_eq!((answer.status(), answer.code().as_str()), (503, "SERVICE_UNAVAILABLE"), "{fault:?}");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert!(started.elapsed() < Duration::from_secs(9), "a Lambda would have timed out: {:?}", started.elapsed());
        app.recorder.clear();
        assert_eq!(sign_up(&app).await.status(), 200, "nothing was left behind");
    }
}

#[tokio::test]
async fn a_sign_up_with_a_lost_response_does_not_conflict_with_itself() {
    let app = TestApp::start().await;
    app.recorder.break_writes(0, 2, InjectedError::AnswerLost);
    let answer = sign_up(&app).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let user = support::SignedInUser::of("ada@example.com", &answer.json());
    assert_eq!(app.signed_in(&user).get("/api/v1/users/me").await.json()["id"], user.user_id.as_str());
    assert_eq!(sign_up(&app).await.code(), "USER_EMAIL_ALREADY_EXISTS");
}

#[tokio::test]
async fn ending_a_session_with_a_lost_response_succeeds() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.recorder.break_writes(0, 1, InjectedError::AnswerLost);
    let ended = app.signed_in(&ada).delete(&format!("{SESSIONS}/current")).await;
    assert_eq!((ended.status(), ended.json()), (200, json!({ "success": true })));
    let again = app.signed_in(&ada).delete(&format!("{SESSIONS}/current")).await;
    assert_eq!(again.code(), "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn a_first_password_with_a_lost_response_is_set_once() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    app.recorder.break_writes(0, 1, InjectedError::AnswerLost);
    let set = app.signed_in(&ada).post("/api/v1/auth/password/set", json!({ "password": "correct horse battery" })).await;
    assert_eq!(set.status(), 200, "{}", set.text());
    app.sign_in("ada@example.com").await;
    let again = app.signed_in(&ada).post("/api/v1/auth/password/set", json!({ "password": "another horse battery" })).await;
    assert_eq!(again.code(), "USER_HAS_PASSWORD");
}

#[tokio::test]
async fn a_lost_response_to_a_count_does_not_reject_the_last_request() {
    let app = TestApp::start_with(Limits::off().with(Rule::SignUp, Some(Rate::new(1, 600)))).await;
    app.recorder.break_writes(0, 1, InjectedError::AnswerLost);
    assert_eq!(sign_up(&app).await.status(), 200);
    assert_eq!(sign_up(&app).await.code(), "RATE_LIMITED");
}

#[tokio::test]
async fn a_lost_response_hides_no_real_conflict() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    app.recorder.break_writes(0, 1, InjectedError::NotMade);
    assert_eq!(sign_up(&app).await.code(), "USER_EMAIL_ALREADY_EXISTS");
    app.recorder.break_writes(0, 1, InjectedError::NotMade);
    let set = app.signed_in(&ada).post("/api/v1/auth/password/set", json!({ "password": "another horse battery" })).await;
    assert_eq!(set.code(), "USER_HAS_PASSWORD");
}
