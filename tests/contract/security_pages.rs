//! The security pages agree with the code about numbers, limits, ways to sign in, and logged
//! fields.

use api::http::log::RequestFacts;
use infra::checked_in::root;
use infra::{openapi, operations};
use jiff::SignedDuration;
use model::code::{self, Purpose};
use model::limit::{Limits, Rule};
use model::password;
use model::project::ProjectConfig;
use model::session::MAX_LIFE;
use model::sign_in::authorization;
use model::team::invitation;
use serde_json::Value;
use settings::access_token_life;
use store::provider::authorization::CODE_LIFE;
use support::TestApp;

use crate::tree;

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(format!("docs/security/{name}.md"))).unwrap()
}

#[track_caller]
fn assert_says(page: &str, text: &str) {
    let flowing = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flowing.contains(text), "the page does not say: {text}");
}

/// A duration as the pages write it: in the largest unit that divides it (`10 minutes`, `1 hour`,
/// `7 days`), except for a day, which is `24 hours`.
fn words(time: SignedDuration) -> String {
    let seconds = time.as_secs();
    let (number, unit) = match seconds {
        s if s > 86_400 && s % 86_400 == 0 => (s / 86_400, "day"),
        s if s % 3600 == 0 => (s / 3600, "hour"),
        s if s % 60 == 0 => (s / 60, "minute"),
        s => (s, "second"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

#[test]
fn the_sign_in_page_lists_every_limit_with_its_rate() {
    let (page, standard) = (page("sign-in"), Limits::standard());
    let rows: Vec<&str> = page.lines().filter(|line| line.starts_with('|')).collect();
    for rule in Rule::ALL {
        let rate = standard.rate(rule).unwrap();
        let rate = format!("| {} in {} |", rate.quota, words(SignedDuration::from_secs(rate.window().into())));
        let row = rows.iter().find(|row| row.ends_with(&format!("| `{}` |", rule.name())));
        assert!(row.is_some_and(|row| row.contains(&rate)), "{}: {rate} {row:?}", rule.name());
    }
    assert_says(&page, "`GATELET_LIMITS`");
    assert_says(&page, "`GATELET_LIMIT_SIGN_IN=30/600`");
    assert_eq!(Rule::SignIn.variable(), "GATELET_LIMIT_SIGN_IN");
}

#[test]
fn the_sign_in_page_matches_the_constants_of_the_code() {
    let page = page("sign-in");
    let first: Vec<String> = vec![
        format!("{} to {} characters", password::length::MIN_LENGTH, password::length::MAX_LENGTH),
        format!("A code has {} random characters", code::LENGTH),
        format!("tried {} times", code::MAX_ATTEMPTS),
        format!("After {} wrong passwords in a row", model::user::MAX_WRONG_PASSWORDS),
        format!("| sign-in code | {} |", words(Purpose::SignIn.life())),
        format!("| reset of a password | {} |", words(Purpose::ResetPassword.life())),
        format!("| verification of an address | {} |", words(Purpose::VerifyEmail.life())),
        format!("| authorization code of an OAuth flow | {} |", words(CODE_LIFE)),
        format!("| OAuth flow, from its start to the provider's answer | {} |", words(authorization::LIFE)),
        format!("| invitation to a team | {} |", words(invitation::LIFE)),
    ];
    for text in first {
        assert_says(&page, &text);
    }
    // Each kind of weak password that is rejected.
    for word in ["most common passwords", "address of the account", "the project's name", "row of the keyboard"] {
        assert_says(&page, word);
    }
}

/// The operations that start a session, whose responses contain a refresh token.
fn beginning() -> Vec<String> {
    let document = openapi::json("https://api.example.com", "https://api.example.com").unwrap();
    let all = operations::of_apis().into_iter().map(|operation| operation.route);
    let begins = |answer: &Value| has_field(&document, answer, "refresh_token", 0);
    let found = all.filter(|route| {
        let item = &document["paths"][route.path][route.verb.name().to_lowercase()]["responses"];
        item.as_object().unwrap().iter().any(|(status, answer)| status.starts_with('2') && begins(answer))
    });
    found.map(|route| format!("`{} {}`", route.verb.name(), route.path)).collect()
}

fn has_field(document: &Value, schema: &Value, name: &str, depth: usize) -> bool {
    if depth > 12 {
        return false;
    }
    match schema {
        Value::Object(object) => object.iter().any(|(key, value)| match (key.as_str(), value) {
            ("$ref", Value::String(to)) => has_field(document, document.pointer(to.trim_start_matches('#')).unwrap(), name, depth + 1),
            ("properties", Value::Object(properties)) => {
                properties.contains_key(name) || properties.values().any(|value| has_field(document, value, name, depth + 1))
            }
            ("example" | "examples", _) => false,
            (_, value) => has_field(document, value, name, depth + 1),
        }),
        Value::Array(schemas) => schemas.iter().any(|schema| has_field(document, schema, name, depth + 1)),
        _ => false,
    }
}

#[test]
fn every_way_to_sign_in_is_on_the_page() {
    let page = page("sign-in");
    let (_, table) = page.split_once("## Ways to sign in").unwrap();
    let table = table.split("\n## ").next().unwrap();
    let beginning = beginning();
    assert!(beginning.len() >= 7, "{beginning:?}");
    for operation in &beginning {
        assert_says(table, &format!("| {operation} |"));
    }
    let rows = table.lines().filter(|line| line.starts_with("| ") && line.contains("`POST ")).count();
    assert_eq!(rows, beginning.len(), "the table has a row for something else: {beginning:?}");
}

#[test]
fn the_sessions_page_matches_the_constants_of_the_code() {
    let (page, config) = (page("sessions"), ProjectConfig::default());
    assert_says(&page, &format!("| {} | `session_max_age_seconds` |", words(config.sessions.life())));
    assert_says(&page, &format!("| {} | `session_max_idle_seconds` |", words(config.sessions.idle())));
    assert_eq!(config.reauthentication_max_age_seconds, 0);
    assert_says(&page, "| 0 (off) | `reauthentication_max_age_seconds` |");
    assert_says(&page, &format!("{} at most", MAX_LIFE.as_hours() / 24));
    // Tests do not set the environment variable, so this is its default.
    assert_says(&page, &format!("valid for {} seconds", access_token_life().unwrap().as_secs()));
}

#[test]
fn the_sessions_page_covers_the_required_topics() {
    let page = page("sessions");
    for heading in ["## Lifetimes", "## What ends a session", "## Sessions at the same time", "## Sessions at providers", "## Fresh proofs"]
    {
        let (_, text) = page.split_once(heading).unwrap_or_else(|| panic!("the page has no {heading}"));
        let text = text.split("\n## ").next().unwrap();
        assert!(text.split_whitespace().count() > 25, "{heading} is too short");
    }
    assert_says(&page, "any number of sessions");
    assert_says(&page, "back-channel logout is not");
    assert_says(&page, "SP 800-63B-4");
}

#[tokio::test]
async fn the_logs_page_lists_every_field() {
    let (page, app) = (page("logs"), TestApp::start().await);
    let wrong = app.client().with("x-stack-publishable-client-key", "pck_wrong").request("GET", "/api/v1/users/me").build();
    let asked = RequestFacts::new("users-me-read", wrong.method(), wrong.headers(), None, Some("8476a536".to_owned()));
    let answer = app.answer(wrong).await;
    let line = asked.line(&app.app, &answer);
    let names: Vec<&String> = line.as_object().unwrap().keys().collect();
    assert!(names.len() == 10 && line["code"] == "INVALID_PUBLISHABLE_CLIENT_KEY", "{line}");
    for name in names {
        assert_says(&page, &format!("| `{name}` |"));
    }
}

#[test]
fn functions_may_only_log_to_the_documented_group() {
    let page = page("logs");
    let root = tree::template();
    for (group, name) in [("ApiLogs", "/gatelet/${Stage}/api"), ("FunctionLogs", "/gatelet/${Stage}/functions")] {
        let properties = &root["Resources"][group]["Properties"];
        assert_eq!(properties["LogGroupName"], name);
        assert_says(&page, &format!("`{}`", name.replace("${Stage}", "STAGE")));
        assert_eq!(properties["RetentionInDays"], "LogRetentionDays");
    }
    let kept = root["Parameters"]["LogRetentionDays"]["Default"].as_u64().unwrap();
    assert_says(&page, &format!("`LogRetentionDays`, {kept} by default"));

    let mut roles = 0;
    for (id, role) in crate::template::resources().iter().filter(|(_, one)| one["Type"] == "AWS::IAM::Role") {
        let policies = role["Properties"]["Policies"].as_array().into_iter().flatten();
        for statement in policies.flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().into_iter().flatten()) {
            let actions = statement["Action"].to_string();
            if actions.contains("logs:") {
                roles += 1;
                assert_eq!(statement["Action"], serde_json::json!(["logs:CreateLogStream", "logs:PutLogEvents"]), "{id}");
                assert_eq!(statement["Resource"], "LogGroupArn", "{id}");
            }
        }
    }
    assert!(roles > 100, "only {roles} functions may log");
}
