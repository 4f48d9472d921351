//! `POST /api/v1/internal/sign-up-rules-test`.

use serde_json::{Value, json};
use support::TestApp;

const PATH: &str = "/api/v1/internal/sign-up-rules-test";

fn imagined(email: &str) -> Value {
    json!({ "email": email, "auth_method": "password", "oauth_provider": null, "country_code": "de", "risk_scores": { "bot": 80, "free_trial_abuse": 0 } })
}

fn rule(id: &str, priority: u32, condition: &str, action: &str) -> Value {
    json!({ "id": id, "priority": priority, "condition": condition, "action": { "type": action, "message": "for administrators" } })
}

async fn with_rules() -> TestApp {
    let app = TestApp::start().await;
    let off = json!({ "id": "off", "enabled": false, "priority": 8, "condition": "true", "action": { "type": "reject" } });
    let rules = [
        rule("bots", 9, "riskScores.bot > 50", "restrict"),
        off,
        rule("parts", 7, r#"email == "" ? false : [1][5] == 1"#, "reject"),
        rule("eve", 6, r#"email == "eve@example.com""#, "reject"),
        rule("rest", 5, r#"countryCode == "DE""#, "allow"),
        rule("never", 1, "true", "reject"),
    ];
    app.configure(json!({ "config": { "sign_up_rules": rules } })).await;
    app
}

#[tokio::test]
async fn the_result_of_each_rule_up_to_the_deciding_one_is_returned() {
    let app = with_rules().await;
    let answer = app.admin().post(PATH, imagined("Ada@Example.com")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let answer = answer.json();
    assert_eq!(
        answer["context"],
        json!({
            "email": "ada@example.com", "email_domain": "example.com", "country_code": "DE", "auth_method": "password",
            "oauth_provider": "", "turnstile_result": "ok", "risk_scores": { "bot": 80, "free_trial_abuse": 0 },
        })
    );
    let statuses =
        answer["evaluations"].as_array().unwrap().iter().map(|rule| (rule["rule_id"].as_str().unwrap(), rule["status"].as_str().unwrap()));
    let wanted = [("bots", "matched"), ("off", "disabled"), ("parts", "error"), ("eve", "not_matched"), ("rest", "matched")];
    assert_eq!(statuses.collect::<Vec<_>>(), wanted);
    assert!(answer["evaluations"][2]["error"].as_str().is_some_and(|error| !error.is_empty()));
    assert_eq!(
        answer["outcome"],
        json!({ "should_allow": true, "decision": "allow", "decision_rule_id": "rest", "restricted_because_of_rule_id": "bots" })
    );
}

#[tokio::test]
async fn a_later_rejection_outweighs_a_restriction_and_nothing_is_created() {
    let app = with_rules().await;
    let before = app.table();
    let answer = app.admin().post(PATH, imagined("eve@example.com")).await.json();
    assert_eq!(
        answer["outcome"],
        json!({ "should_allow": false, "decision": "reject", "decision_rule_id": "eve", "restricted_because_of_rule_id": null })
    );
    assert_eq!(app.table(), before);
    app.configure(json!({ "config": { "sign_up_rules": [], "sign_up_rules_default_action": "reject" } })).await;
    let answer =
        app.admin().post(PATH, json!({ "email": null, "auth_method": "oauth", "oauth_provider": "github", "country_code": null })).await;
    assert_eq!(answer.json()["outcome"]["decision"], "default-reject");
    assert_eq!(answer.json()["context"]["oauth_provider"], "github");
}

#[tokio::test]
async fn only_administrators_test_rules_and_wrong_values_are_named() {
    let app = with_rules().await;
    for caller in [app.client(), app.server()] {
        let refused = caller.post(PATH, imagined("ada@example.com")).await;
        assert_eq!((refused.status(), refused.code().as_str()), (403, "INSUFFICIENT_ACCESS_TYPE"));
    }
    for (name, value) in
        [("email", json!("no address")), ("auth_method", json!("magic")), ("country_code", json!("D")), ("nonsense", json!(1))]
    {
        let mut body = imagined("ada@example.com");
        body[name] = value;
        let refused = app.admin().post(PATH, body).await;
        assert_eq!((refused.status(), refused.code().as_str()), (400, "SCHEMA_ERROR"), "{name}");
        assert!(refused.text().contains(&format!("body.{name}")), "{}", refused.text());
    }
}
