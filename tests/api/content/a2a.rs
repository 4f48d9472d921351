//! The A2A agent and its card.

use serde_json::{Value, json};
use support::TestApp;

use super::documents::published;

async fn send(app: &TestApp, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string();
    raw(app, Some("1.0"), "/a2a", &body).await
}

async fn raw(app: &TestApp, version: Option<&str>, path: &str, body: &str) -> Value {
    let request = app.anonymous().request("POST", path).header("content-type", "application/json");
    let request = version.into_iter().fold(request, |request, version| request.header("a2a-version", version));
    let answer = request.body(body.to_owned()).send().await;
    assert_eq!(answer.status(), 200, "{body}: {}", answer.text());
    answer.json()
}

fn message(parts: Value) -> Value {
    json!({ "message": { "messageId": "m1", "role": "ROLE_USER", "parts": parts } })
}

#[tokio::test]
async fn the_card_describes_the_agent_that_answers() {
    let app = published().await;
    let card = app.anonymous().get("/.well-known/agent-card.json").await;
    assert_eq!(
        (card.status(), card.header("content-type"), card.header("cache-control")),
        (200, Some("application/json"), Some("public, max-age=3600"))
    );
    let card = card.json();
    assert_eq!(
        card["supportedInterfaces"],
        json!([{ "url": "https://site.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }])
    );
    for list in ["supportedInterfaces", "defaultInputModes", "defaultOutputModes", "skills"] {
        assert!(!card[list].as_array().unwrap().is_empty(), "{list}");
    }
    for example in card["skills"][0]["examples"].as_array().unwrap() {
        let found = send(&app, "SendMessage", message(json!([{ "text": example }]))).await;
        let found = &found["result"]["message"]["parts"][1]["data"]["found"];
        assert!(!found.as_array().unwrap().is_empty(), "{example}");
    }
}

#[tokio::test]
async fn a_message_is_answered_with_what_its_words_find() {
    let app = published().await;
    let mut asked = message(json!([{ "text": "mail" }, { "text": "scanner" }]));
    asked["message"]["contextId"] = "c1".into();
    let answer = send(&app, "SendMessage", asked).await;
    assert_eq!(answer["id"], 7);
    let reply = &answer["result"]["message"];
    assert_eq!((&reply["role"], &reply["contextId"]), (&json!("ROLE_AGENT"), &json!("c1")));
    assert!(reply["parts"][0]["text"].as_str().unwrap().contains("https://site.example/blog/codes-that-survive-a-mail-scanner"), "{reply}");
    assert_eq!(reply["parts"][1]["data"]["found"][0]["kind"], "post");

    let nothing = send(&app, "SendMessage", message(json!([{ "text": "zebra" }]))).await["result"]["message"].clone();
    assert!(nothing["parts"][0]["text"].as_str().unwrap().starts_with("Nothing matches."), "{nothing}");
    assert!(nothing["contextId"].as_str().is_some_and(|context| !context.is_empty()));
    let other = send(&app, "SendMessage", message(json!([{ "text": "zebra" }]))).await["result"]["message"].clone();
    assert!(nothing["messageId"] != other["messageId"] && nothing["contextId"] != other["contextId"]);
}

#[tokio::test]
async fn what_the_agent_cannot_do_has_the_code_of_the_protocol() {
    let app = published().await;
    let with = |field: &str, value: Value| {
        let mut asked = message(json!([{ "text": "x" }]));
        asked["message"][field] = value;
        asked
    };
    let many: Vec<Value> = (0..33).map(|_| json!({ "text": "x" })).collect();
    let cases = [
        ("SendMessage", with("taskId", "t".into()), -32001),
        ("SendMessage", message(json!([{ "raw": "aGk=" }, { "url": "https://a.example" }])), -32005),
        ("SendMessage", message(json!([])), -32602),
        ("SendMessage", message(many.into()), -32602),
        ("SendMessage", message(json!([{ "text": "x", "raw": "x" }])), -32602),
        ("SendMessage", message(json!(["x"])), -32602),
        ("SendMessage", with("messageId", "".into()), -32602),
        ("SendMessage", json!({}), -32602),
        ("GetTask", json!({ "id": "t" }), -32001),
        ("CancelTask", json!({ "id": "t" }), -32001),
        ("SendStreamingMessage", json!({}), -32004),
        ("SubscribeToTask", json!({}), -32004),
        ("GetExtendedAgentCard", json!({}), -32004),
        ("CreateTaskPushNotificationConfig", json!({}), -32003),
        ("ListTaskPushNotificationConfigs", json!({}), -32003),
        ("message/send", json!({}), -32601),
    ];
    for (method, params, code) in cases {
        let answer = send(&app, method, params.clone()).await;
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &json!(7)), "{method} {params}");
        let reason = answer["error"]["data"][0]["reason"].is_string();
        assert_eq!(reason, code > -32100, "{method}: {answer}");
    }
    let tasks = send(&app, "ListTasks", json!({})).await;
    assert_eq!(tasks["result"], json!({ "tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0 }));
}

#[tokio::test]
async fn a_request_names_the_version_of_the_protocol() {
    let app = published().await;
    let body = json!({ "jsonrpc": "2.0", "id": 7, "method": "ListTasks" }).to_string();
    for version in [None, Some(""), Some("0.3"), Some("1.0.0")] {
        assert_eq!(raw(&app, version, "/a2a", &body).await["error"]["code"], -32009, "{version:?}");
    }
    assert!(raw(&app, None, "/a2a?A2A-Version=1.0", &body).await["result"].is_object());
    for (body, code) in [("{", -32700), ("[]", -32600), ("{}", -32600), (r#"{"jsonrpc":"2.0","method":"ListTasks"}"#, -32600)] {
        assert_eq!(raw(&app, Some("1.0"), "/a2a", body).await["error"]["code"], code, "{body}");
    }
}
