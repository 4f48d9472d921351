//! Requests with very many problems get short responses.

use model::limit::{Limits, Rate, Rule};
use serde_json::{Map, Value, json};
use support::{Answer, TestApp};

/// The maximum size of a response, in bytes.
const MAX_BYTES: usize = 24 << 10;

/// The message's lines. `details.problems` contains the same problems, but not the number of
/// omitted problems.
fn lines(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.code(), "SCHEMA_ERROR");
    assert!(answer.text().len() < MAX_BYTES, "the response has {} bytes", answer.text().len());
    let details = &answer.json()["details"];
    let lines: Vec<String> = details["message"].as_str().unwrap().lines().skip(1).map(str::to_owned).collect();
    let problems = details["problems"].as_array().unwrap().iter();
    let problems = problems.map(|problem| format!("  - {} {}", problem["path"].as_str().unwrap(), problem["problem"].as_str().unwrap()));
    let listed = lines.iter().filter(|line| !line.starts_with("  - and "));
    assert_eq!(problems.collect::<Vec<_>>(), listed.cloned().collect::<Vec<_>>());
    lines
}

#[tokio::test]
async fn the_details_have_the_path_of_each_problem() {
    let app = TestApp::start().await;
    let body = json!({ "description": "x", "scopes": ["a", 1], "colour": "red" });
    let answer = app.client().post("/api/v1/user-api-keys?limit=1", body).await;
    let problems = json!([
        { "path": "body.colour", "problem": "is not known" },
        { "path": "body.scopes[1]", "problem": "must be a string, not an integer" },
        { "path": "body.user_id", "problem": "is required" },
        { "path": "query.limit", "problem": "is not known" },
    ]);
    assert_eq!(answer.json()["details"], json!({ "message": answer.json()["error"], "problems": problems }));
}

#[tokio::test]
async fn the_first_fifty_problems_are_listed_and_the_others_counted() {
    let app = TestApp::start().await;
    for count in [50, 51, 10_000] {
        let body = json!({ "user_id": "me", "description": "x", "scopes": vec![0; count] });
        let answer = app.client().post("/api/v1/user-api-keys", body).await;
        let lines = lines(&answer);
        assert_eq!(lines[49], "  - body.scopes[49] must be a string, not an integer");
        let rest = match count - 50 {
            0 => None,
            1 => Some("  - and 1 more problem".to_owned()),
            rest => Some(format!("  - and {rest} more problems")),
        };
        assert_eq!(lines.get(50), rest.as_ref());
    }
}

#[tokio::test]
async fn names_of_unknown_fields_do_not_make_a_response_long() {
    let app = TestApp::start().await;
    for name in ["x".repeat(200), "\"".repeat(90), "\u{1}".repeat(30), "€".repeat(60)] {
        let fields = (0..1000).map(|number| (format!("{number}{name}"), Value::Null)).collect::<Map<_, _>>();
        let answer = app.anonymous().post("/api/v1/check-version", Value::Object(fields)).await;
        let lines = lines(&answer);
        // The missing field is also a problem.
        let last = format!("  - and {} more problems", 1001 - (lines.len() - 1));
        assert_eq!(lines.last(), Some(&last));
    }
    let injected = app.anonymous().post("/api/v1/check-version", json!({ "clientVersion": "1.2.3", "a\n  - body.b": 1 })).await;
    assert_eq!(lines(&injected), ["  - body.a\u{fffd}  - body.b is not known"]);
}

#[tokio::test]
async fn problems_of_body_and_query_are_counted_together() {
    let app = TestApp::start().await;
    let query: Vec<String> = (0..40).map(|number| format!("q{number}=1")).collect();
    let fields = (0..30).map(|number| (format!("b{number}"), Value::Null)).collect::<Map<_, _>>();
    let path = format!("/api/v1/check-version?{}", query.join("&"));
    let lines = lines(&app.anonymous().post(&path, Value::Object(fields)).await);
    assert_eq!((lines.len(), lines[50].as_str()), (51, "  - and 21 more problems"));
    assert_eq!(lines.iter().filter(|line| line.starts_with("  - query.")).count(), 19);
}

#[tokio::test]
async fn checks_of_versions_are_limited_by_address_without_the_table() {
    let app = TestApp::start_with(Limits::off().with(Rule::Unproved, Some(Rate::new(2, 600)))).await;
    let check = async || app.anonymous().post("/api/v1/check-version", json!({ "clientVersion": "1.2.3" })).await;
    app.recorder.clear();
    assert_eq!([check().await.status(), check().await.status(), check().await.status()], [200, 200, 429]);
    assert!(app.recorder.calls().is_empty());
    let long = app.anonymous().post("/api/v1/check-version", json!({ "clientVersion": format!("0.0.1-{}", "a".repeat(300)) })).await;
    assert_eq!(lines(&long), ["  - body.clientVersion must be a version such as 1.2.3"]);
}
