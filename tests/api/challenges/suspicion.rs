//! Challenges on suspicion. IP addresses, networks and projects become suspicious only above their
//! usual rates.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::json;
use support::{TestApp, refused};

use super::*;
use crate::auth::oauth_authorize::{authorize, parameters_with};

const UNAVAILABLE: &str = r#"{ "bot_challenge_unavailable": "true" }"#;

/// A project that requires proof of work from suspicious callers.
async fn start(limits: Limits) -> TestApp {
    let app = TestApp::start_with(limits).await;
    guard(&app, json!({ "provider": "altcha" })).await;
    app
}

fn rate(rule: Rule, quota: u32) -> Limits {
    Limits::off().with(rule, Some(Rate::new(quota, 3600)))
}

/// Requests a code for a new email address, and returns the status.
async fn send(app: &TestApp, address: &str, number: usize) -> u16 {
    let answer = at(app.client(), address).post(SEND, code_for(&format!("user{number}@example.com"), json!({}))).await;
    if answer.status() != 200 {
        assert_required(&answer);
    }
    answer.status()
}

#[tokio::test]
async fn an_address_above_its_usual_rate_is_challenged_and_others_are_not() {
    let app = start(rate(Rule::ChallengeUsualAddress, 3)).await;
    for number in 0..3 {
        assert_eq!(send(&app, "203.0.113.7", number).await, 200);
    }
    assert_eq!(send(&app, "203.0.113.7", 3).await, 409);
    assert_eq!(send(&app, "203.0.113.8", 4).await, 200);
    // Sign-ups and requests for codes from an IP address count towards the same rate.
    assert_required(&at(app.client(), "203.0.113.7").post(SIGN_UP, account_of("ada@example.com", json!({}))).await);
}

#[tokio::test]
async fn a_network_above_its_usual_rate_is_challenged_and_others_are_not() {
    let app = start(rate(Rule::ChallengeUsualNetwork, 3)).await;
    for (network, other) in [("203.0.113.", "203.0.114.7"), ("2001:db8:1:", "2001:db8:2::7")] {
        let address = |number: usize| if network.ends_with(':') { format!("{network}{number}::7") } else { format!("{network}{number}") };
        for number in 1..4 {
            assert_eq!(send(&app, &address(number), number).await, 200, "{}", address(number));
        }
        assert_eq!(send(&app, &address(9), 9).await, 409);
        assert_eq!(send(&app, other, 10).await, 200);
    }
}

#[tokio::test]
async fn a_project_above_its_usual_rate_challenges_everybody_during_the_flood() {
    let app = start(Limits::off()).await;
    usual(&app, 3).await;
    for number in 0..3 {
        assert_eq!(send(&app, &format!("203.0.{number}.7"), number).await, 200);
    }
    assert_eq!(send(&app, "198.51.100.1", 3).await, 409);
    // Existing users also get challenges, so the response does not reveal whether an account
    // exists.
    assert_eq!(send(&app, "198.51.100.2", 0).await, 409);
    let other = app.another_project().await;
    assert_eq!(app.client_of(&other).post(SIGN_UP, account_of("ada@example.com", json!({}))).await.status(), 200);
    // A caller stops being suspicious within two hours, but not exactly at the end of a window.
    app.advance(SignedDuration::from_mins(30));
    assert_eq!(send(&app, "198.51.100.3", 4).await, 409);
    app.advance(SignedDuration::from_mins(120));
    assert_eq!(send(&app, "198.51.100.3", 4).await, 200);
}

#[tokio::test]
async fn oauth_flows_and_emails_of_a_project_are_counted_separately() {
    let app = start(Limits::off()).await;
    app.configure(json!({ "config": { "oauth_providers": [{ "id": "github", "client_id": "a", "client_secret": "b" }] } })).await;
    usual(&app, 3).await;
    let begin = async || {
        let answer = authorize(&app, "github", &parameters_with(&app, &[("response_mode", "json")])).await;
        assert!([200, 409].contains(&answer.status()), "{}", answer.text());
        answer.status()
    };
    for _ in 0..3 {
        assert_eq!(begin().await, 200);
    }
    assert_eq!((begin().await, send(&app, "203.0.3.7", 3).await), (409, 200));
    for number in 4..6 {
        assert_eq!(send(&app, &format!("203.0.{number}.7"), number).await, 200);
    }
    assert_eq!(send(&app, "203.0.6.7", 6).await, 409);
}

#[tokio::test]
async fn concurrent_requests_are_all_counted() {
    let app = start(Limits::off()).await;
    usual(&app, 8).await;
    let statuses = futures_util::future::join_all((0..8).map(|number| send(&app, "198.51.100.1", number))).await;
    assert_eq!(statuses, [200; 8]);
    assert_eq!(send(&app, "203.0.113.7", 9).await, 409);
}

#[tokio::test]
async fn claiming_an_unavailable_challenge_works_a_few_times() {
    let limits = rate(Rule::ChallengeUnavailableNetwork, 2).with(Rule::ChallengeUnavailableProject, Some(Rate::new(3, 3600)));
    let app = start(limits).await;
    usual(&app, 1).await;
    assert_eq!(send(&app, "203.0.113.7", 0).await, 200);
    let claim = async |address: &str, number: usize| {
        let body = code_for(&format!("claimed{number}@example.com"), serde_json::from_str(UNAVAILABLE).unwrap());
        at(app.client(), address).post(SEND, body).await
    };
    for number in 0..2 {
        assert_eq!(claim("203.0.113.7", number).await.status(), 200);
    }
    assert_failed(&claim("203.0.113.99", 2).await);
    assert_eq!(claim("198.51.100.1", 3).await.status(), 200);
    for number in 4..20 {
        assert_failed(&claim(&format!("198.51.{number}.1"), number).await);
    }
    assert!(app.mails("claimed4@example.com").await.is_empty());
}

#[tokio::test]
async fn with_limits_off_no_claim_admits_a_suspicious_request() {
    let app = start(Limits::off()).await;
    usual(&app, 1).await;
    assert_eq!(send(&app, "203.0.113.7", 0).await, 200);
    let body = code_for("ada@example.com", serde_json::from_str(UNAVAILABLE).unwrap());
    assert_failed(&app.client().post(SEND, body).await);
}

#[tokio::test]
async fn a_project_without_a_challenge_counts_nothing() {
    let app = TestApp::start_with(rate(Rule::ChallengeUsualAddress, 1)).await;
    app.recorder.clear();
    for number in 0..3 {
        assert_eq!(send(&app, "203.0.113.7", number).await, 200);
    }
    assert!(app.recorder.writes().iter().all(|(_, body)| !body.contains("\"L#")));
}

#[tokio::test]
async fn a_failure_to_count_a_request_does_not_reject_it() {
    let app = start(rate(Rule::ChallengeUsualAddress, 10)).await;
    // The first write, which is the transaction that stores the email, succeeds. The next two
    // writes fail.
    app.recorder.break_writes(1, 2, refused("AccessDeniedException"));
    assert_eq!(send(&app, "203.0.113.7", 0).await, 200);
    assert!(app.recorder.is_done());
    assert_eq!(app.mails("user0@example.com").await.len(), 1);
}
