//! Sign-up rules of a project whose evaluation would take seconds. Every operation that evaluates
//! these rules stays within the evaluation budget.

use model::email::Email;
use model::sign_up::budget::{MAX_BYTES, MAX_STEPS};
use model::sign_up::program::Program;
use model::sign_up::risk::SignUpRisk;
use model::sign_up::rule::{Attempt, AuthMethod, SignUpRule};
use serde_json::{Value, json};
use support::TestApp;
use support::expensive_rules::{longest_address, sets};

const SETTINGS: &str = "/api/v1/internal/projects/current";
const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const TEST: &str = "/api/v1/internal/sign-up-rules-test";

fn imagined(email: &str) -> Value {
    json!({ "email": email, "auth_method": "password", "oauth_provider": null, "country_code": null })
}

#[test]
fn no_set_of_expensive_rules_takes_more_than_the_budget() {
    let email = Email::parse(&longest_address()).unwrap();
    let attempt = Attempt { email: Some(&email), method: AuthMethod::Password, country_code: None, risk: SignUpRisk::default() };
    let sets = sets();
    assert!(sets.len() > 30);
    let mut skipped = 0;
    for (what, rules) in sets {
        let program = Program::compile(&rules);
        let text: usize = rules.iter().map(|rule| size_of::<SignUpRule>() + rule.condition.len()).sum();
        assert!(program.steps() <= MAX_STEPS && program.bytes() <= MAX_BYTES + text, "{what}: {} steps", program.steps());
        let statuses = format!("{:?}", program.run(&attempt.facts()));
        skipped += usize::from(statuses.contains("all rules of a project may take"));
    }
    assert!(skipped > 10, "{skipped} sets are too expensive");
}

/// Stores rules that an earlier version would have accepted.
async fn with_stored(app: &TestApp, rules: Vec<SignUpRule>) {
    let mut row = app.app.store.project(app.project_id()).await.unwrap().unwrap();
    row.project.config.sign_up_rules = rules;
    app.app.store.update_project(&row.project, row.version, None).await.unwrap();
}

fn rule(id: &str, condition: &str) -> SignUpRule {
    let rule = json!({ "id": id, "enabled": true, "priority": 1, "condition": condition, "action": { "type": "reject" } });
    serde_json::from_value(rule).unwrap()
}

#[tokio::test]
async fn a_rule_beyond_the_budget_is_refused_and_a_stored_one_is_skipped_and_shown() {
    let app = TestApp::start_unobserved().await;
    let large = |letter: &str| format!(r#"email.matches("{letter}{{2000}}") || email.endsWith("@evil.example")"#);
    let rules = vec![rule("a", &large("a")), rule("b", &large("b")), rule("c", r#"email.endsWith("@bad.example")"#)];
    let saved = app.admin().patch(SETTINGS, json!({ "config": { "sign_up_rules": rules } })).await;
    let message = saved.json()["details"]["message"].as_str().unwrap().to_owned();
    assert!(saved.status() == 400 && message.contains("body.config.sign_up_rules[1].condition") && message.contains("steps"), "{message}");

    with_stored(&app, rules.clone()).await;
    let tested = app.admin().post(TEST, imagined("ada@example.com")).await.json();
    let status = |number: usize| (tested["evaluations"][number]["rule_id"].as_str(), tested["evaluations"][number]["status"].as_str());
    assert_eq!(
        [0, 1, 2].map(status),
        [("a", "not_matched"), ("b", "error"), ("c", "not_matched")].map(|(id, status)| (Some(id), Some(status)))
    );
    assert!(tested["evaluations"][1]["error"].as_str().unwrap().contains("all rules of a project may take"), "{tested}");
    // Only the rules that fit into the budget determine the result.
    let sign_up =
        async |email: &str| app.client().post(SIGN_UP, json!({ "email": email, "password": "correct horse battery" })).await.status();
    assert_eq!((sign_up("ada@evil.example").await, sign_up("ada@bad.example").await, sign_up("ada@example.com").await), (403, 403, 200));
    // Despite the stored rules, other settings can be changed. A single rule that fits into the
    // budget can also be changed.
    assert_eq!(app.admin().patch(SETTINGS, json!({ "config": { "magic_link_enabled": true } })).await.status(), 200);
    assert_eq!(app.admin().patch(SETTINGS, json!({ "config": { "sign_up_rules": rules } })).await.status(), 200, "the same rules");
    assert_eq!(app.admin().patch(SETTINGS, json!({ "config": { "sign_up_rules": [rules[0]] } })).await.status(), 200);
}

#[tokio::test]
async fn fifty_rules_of_four_large_expressions_do_not_delay_other_projects() {
    let app = TestApp::start_unobserved().await;
    let other = app.another_project().await;
    let four = |rule: usize| (0..4).map(|n| format!(r#"email.matches("{rule}x{n}{{1900}}")"#)).collect::<Vec<_>>().join(" || ");
    with_stored(&app, (0..50).map(|number| rule(&format!("r{number}"), &four(number))).collect()).await;
    let sign_up = |caller: support::Caller, number: usize| async move {
        caller.post(SIGN_UP, json!({ "email": format!("ada{number}@example.com"), "password": "correct horse battery" })).await.status()
    };
    // The budget is an exact number of steps, so each run skips the same rules.
    let shown = |answer: Value| answer["evaluations"].as_array().unwrap().iter().filter(|rule| rule["status"] == "error").count();
    let first = shown(app.admin().post(TEST, imagined("ada@example.com")).await.json());
    assert!(first >= 48, "{first} of 50 rules are skipped");
    let (own, others) = tokio::join!(sign_up(app.client(), 0), sign_up(app.client_of(&other), 1));
    assert_eq!((own, others), (200, 200));
    assert_eq!(shown(app.admin().post(TEST, imagined(&longest_address())).await.json()), first);
}
