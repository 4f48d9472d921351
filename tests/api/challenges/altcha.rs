//! Proof of work with the ALTCHA widget. The solutions are correct, forged, reused or expired, or
//! belong to a different project.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::SignedDuration;
use model::bot_challenge::altcha::{Challenge, Parameters, Work};
use model::limit::{Limits, Rate, Rule};
use serde_json::{Value, json};
use support::TestApp;

use super::*;

const CHALLENGE: &str = "/api/v1/auth/challenge";

/// A project that requires proof of work for every sign-up and every code.
async fn start() -> TestApp {
    let app = TestApp::start().await;
    guard(&app, json!({ "provider": "altcha", "sign_up": "always", "send_sign_in_code": "always", "oauth": "off" })).await;
    app
}

/// Requests a challenge as the widget does, without the headers of other operations.
async fn asked(app: &TestApp, address: &str) -> Answer {
    at(app.anonymous(), address).get(&format!("{CHALLENGE}?project_id={}", app.project_id())).await
}

/// Solves a challenge as the widget does, by trying counters.
pub(crate) fn solved(challenge: &Value) -> String {
    let parameters: Parameters = serde_json::from_value(challenge["parameters"].clone()).unwrap();
    let counter = (0..1_000_000).find(|counter| parameters.is_solved_by(*counter)).unwrap();
    payload(challenge, counter)
}

fn payload(challenge: &Value, counter: u32) -> String {
    STANDARD.encode(json!({ "challenge": challenge, "solution": { "counter": counter, "derivedKey": "000", "time": 12.3 } }).to_string())
}

/// A challenge in the service's form that takes only sixteen tries on average, whereas a real
/// challenge takes seconds.
pub(crate) fn easy(app: &TestApp) -> Value {
    let work = Work { cost: 1, prefix: "0", ..Work::of(0) };
    json!(Challenge::new(&app.app.challenge_key, &app.app.entropy, app.project_id(), work, app.now()).unwrap())
}

pub(crate) fn visible(token: &str) -> Value {
    json!({ "bot_challenge_token": token, "bot_challenge_phase": "visible" })
}

async fn sign_up(app: &TestApp, email: &str, token: &str) -> Answer {
    app.client().post(SIGN_UP, account_of(email, visible(token))).await
}

#[tokio::test]
async fn a_solved_challenge_allows_a_sign_up() {
    let app = start().await;
    assert_required(&app.client().post(SIGN_UP, account_of("ada@example.com", json!({}))).await);
    let answer = asked(&app, "203.0.113.7").await;
    assert_eq!((answer.status(), answer.header("access-control-allow-origin")), (200, Some("*")));
    assert_eq!(answer.header("cache-control"), Some("no-store, max-age=0"));
    let challenge = answer.json();
    let parameters = &challenge["parameters"];
    assert_eq!(
        (&parameters["algorithm"], &parameters["cost"], &parameters["keyPrefix"]),
        (&json!("PBKDF2/SHA-256"), &json!(250), &json!("000"))
    );
    assert_eq!(parameters["expiresAt"], app.now().as_second() + 300);
    assert_eq!(sign_up(&app, "ada@example.com", &solved(&challenge)).await.status(), 200);
    assert_ne!(asked(&app, "203.0.113.7").await.json()["parameters"]["nonce"], parameters["nonce"]);
}

#[tokio::test]
async fn a_solution_works_once_across_operations() {
    let app = start().await;
    let token = solved(&easy(&app));
    assert_eq!(sign_up(&app, "ada@example.com", &token).await.status(), 200);
    assert!(assert_failed(&sign_up(&app, "bob@example.com", &token).await).contains("used before"));
    assert_failed(&app.client().post(SEND, code_for("bob@example.com", visible(&token))).await);
    // A different counter for the same challenge does not count as a new solution.
    let challenge = easy(&app);
    let parameters: Parameters = serde_json::from_value(challenge["parameters"].clone()).unwrap();
    let counters: Vec<u32> = (0..).filter(|counter| parameters.is_solved_by(*counter)).take(2).collect();
    assert_eq!(sign_up(&app, "bob@example.com", &payload(&challenge, counters[0])).await.status(), 200);
    assert_failed(&sign_up(&app, "eve@example.com", &payload(&challenge, counters[1])).await);
    // A sign-up that fails because the address has an account makes its solution invalid. If the
    // solution stayed valid, it could reveal which of many addresses have accounts.
    let token = solved(&easy(&app));
    assert_eq!(sign_up(&app, "ada@example.com", &token).await.code(), "USER_EMAIL_ALREADY_EXISTS");
    assert_failed(&sign_up(&app, "eve@example.com", &token).await);
}

#[tokio::test]
async fn of_concurrent_requests_with_a_solution_one_succeeds() {
    let app = start().await;
    let token = solved(&easy(&app));
    let emails: Vec<String> = (0..8).map(|number| format!("user{number}@example.com")).collect();
    let answers = futures_util::future::join_all(emails.iter().map(|email| sign_up(&app, email, &token))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 200).count(), 1);
    for answer in answers.iter().filter(|answer| answer.status() != 200) {
        assert_failed(answer);
    }
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_challenge_is_valid_for_five_minutes() {
    let app = start().await;
    let (first, second) = (solved(&easy(&app)), solved(&easy(&app)));
    app.advance(SignedDuration::from_secs(299));
    assert_eq!(sign_up(&app, "ada@example.com", &first).await.status(), 200);
    app.advance(SignedDuration::from_secs(1));
    assert!(assert_failed(&sign_up(&app, "bob@example.com", &second).await).contains("expired"));
}

#[tokio::test]
async fn forged_modified_and_foreign_challenges_are_rejected() {
    let app = start().await;
    let real = asked(&app, "203.0.113.7").await.json();
    for (name, value) in [("cost", json!(1)), ("keyPrefix", json!("")), ("keyPrefix", json!("0")), ("expiresAt", json!(9_999_999_999_i64))]
    {
        let mut forged = real.clone();
        forged["parameters"][name] = value;
        // The solution is rejected before its counter is verified.
        assert!(
            assert_failed(&sign_up(&app, "ada@example.com", &payload(&forged, 0)).await).contains("not issued for this project"),
            "{name}"
        );
    }
    assert!(assert_failed(&sign_up(&app, "ada@example.com", &payload(&real, 0)).await).contains("has not been solved"));
    for nothing in ["e30=", "nonsense", &"A".repeat(5000)] {
        assert_failed(&sign_up(&app, "ada@example.com", nothing).await);
        let unseen = json!({ "bot_challenge_token": nothing, "bot_challenge_phase": "invisible" });
        assert_required(&app.client().post(SIGN_UP, account_of("ada@example.com", unseen)).await);
    }
    let other = app.another_project().await;
    let work = Work { cost: 1, prefix: "0", ..Work::of(0) };
    let foreign = json!(Challenge::new(&app.app.challenge_key, &app.app.entropy, &other.project_id, work, app.now()).unwrap());
    assert_failed(&sign_up(&app, "ada@example.com", &solved(&foreign)).await);
    let stranger = app.redeployed(|settings| settings.secret = "the deployment secret of somebody else".to_owned().into());
    assert_failed(&sign_up(&app, "ada@example.com", &solved(&easy(&stranger))).await);
}

#[tokio::test]
async fn a_solution_survives_the_rotation_of_the_deployment_secret() {
    let app = start().await;
    let token = solved(&easy(&app));
    let old = app.app.settings.secret.current().unwrap().clone();
    let during = app.redeployed(|settings| {
        let new = crypto::deployment_secret::DeploymentSecret::from("the deployment secret that comes after it".to_owned());
        settings.secret = new.with_previous(old.clone());
    });
    assert_eq!(sign_up(&during, "ada@example.com", &token).await.status(), 200);
}

#[tokio::test]
async fn a_flood_raises_the_difficulty_and_voids_easier_challenges() {
    let app = TestApp::start().await;
    guard(&app, json!({ "provider": "altcha" })).await;
    usual(&app, 4).await;
    let cost = async || asked(&app, "203.0.113.7").await.json()["parameters"]["cost"].as_u64().unwrap();
    let (easy_one, another) = (solved(&easy(&app)), solved(&easy(&app)));
    assert_eq!(cost().await, 250);
    let mut costs = Vec::new();
    for number in 0..24 {
        app.client().post(SEND, code_for(&format!("user{number}@example.com"), json!({}))).await;
        costs.push(cost().await);
        if number == 5 {
            // Challenges are now at most one level harder, so challenges that were issued earlier
            // stay valid.
            let body = code_for("ada@example.com", visible(&easy_one));
            assert_eq!(app.client().post(SEND, body).await.status(), 200);
        }
    }
    assert!(costs.is_sorted() && costs[0] == 250 && costs[23] == 2000, "{costs:?}");
    let refused = app.client().post(SEND, code_for("bob@example.com", visible(&another))).await;
    assert!(assert_failed(&refused).contains("too easy for the current load"));
}

#[tokio::test]
async fn requesting_a_challenge_requires_its_use_and_is_rate_limited() {
    let app = TestApp::start_with(Limits::off().with(Rule::Challenge, Some(Rate::new(2, 600)))).await;
    assert_eq!(asked(&app, "203.0.113.7").await.code(), "BOT_CHALLENGE_NOT_ENABLED");
    guard(&app, json!({ "provider": "altcha" })).await;
    assert_eq!(asked(&app, "203.0.113.7").await.status(), 200);
    let refused = asked(&app, "203.0.113.7").await;
    assert_eq!((refused.status(), &refused.json()["details"]["limit"]), (429, &json!("challenge")));
    assert_eq!(asked(&app, "203.0.113.8").await.status(), 200);

    let before = app.table();
    for id in ["7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21", "nothing", ""] {
        let answer = app.anonymous().get(&format!("{CHALLENGE}?project_id={id}")).await;
        assert_eq!((answer.status(), answer.code().as_str()), (404, "PROJECT_NOT_FOUND"));
    }
    assert_eq!(app.anonymous().get(CHALLENGE).await.code(), "SCHEMA_ERROR");
    assert_eq!(app.table(), before, "nothing is counted for a project that does not exist");
}
