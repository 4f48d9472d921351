//! Faults in bodies and fields, and the errors that they cause.

use std::io::Write as _;

use serde_json::{Value, json};
use support::{Answer, TestApp};

use super::{assert_untouched, project_settings};

const SIGN_UP: &str = "/api/v1/auth/password/sign-up";
const SEND_CODE: &str = "/api/v1/auth/otp/send-sign-in-code";

async fn sign_up(app: &TestApp, content_type: &str, body: impl Into<Vec<u8>>) -> Answer {
    let body: Vec<u8> = body.into();
    app.client().request("POST", SIGN_UP).header("content-type", content_type).body(body).send().await
}

fn refusal(answer: &Answer) -> (u16, String) {
    (answer.status(), answer.code())
}

fn error(status: u16, code: &str) -> (u16, String) {
    (status, code.to_owned())
}

#[tokio::test]
async fn an_invalid_json_body_is_reported_as_such() {
    let app = TestApp::start().await;
    let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    let bodies: [&[u8]; 10] = [
        b"{",
        b"{\"email\"}",
        b"{'email':1}",
        b"{}x",
        b"\xff",
        b"{\"email\":\"\xc3\x28\"}",
        b"{\"email\":\"\\ud800\"}",
        b"NaN",
        b"{\"email\":\"\x01\"}",
        deep.as_bytes(),
    ];
    for body in bodies {
        let answer = sign_up(&app, "application/json", body).await;
        assert_eq!(refusal(&answer), error(400, "BODY_PARSING_ERROR"), "{:?}", String::from_utf8_lossy(&body[..body.len().min(40)]));
        assert!(answer.json().get("details").is_none());
    }
    for content_type in ["text/plain", "application/octet-stream"] {
        assert_eq!(refusal(&sign_up(&app, content_type, b"\xff").await), error(400, "BODY_PARSING_ERROR"));
        assert_eq!(refusal(&sign_up(&app, content_type, "text").await), error(400, "SCHEMA_ERROR"), "a string is not an object");
    }
}

#[tokio::test]
async fn a_wrong_media_type_is_reported_as_an_unreadable_body() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" }).to_string();
    for content_type in ["application/xml", "multipart/form-data; boundary=x", "text/html", "json", "application/jsonx", ";", "*/*"] {
        assert_eq!(refusal(&sign_up(&app, content_type, body.clone()).await), error(400, "BODY_PARSING_ERROR"), "{content_type}");
    }
    let xml = sign_up(&app, "application/xml", body.clone()).await;
    assert!(xml.json()["error"].as_str().unwrap().ends_with("send `content-type: application/json`"), "{}", xml.text());
    assert_eq!(sign_up(&app, " Application/JSON ; charset=utf-8", body).await.status(), 200);
    let form =
        app.client().request("POST", SIGN_UP).form(&[("email", "form@example.com"), ("password", "correct horse battery")]).send().await;
    assert_eq!(form.status(), 200);
}

#[tokio::test]
async fn a_missing_or_mistyped_body_is_a_schema_error() {
    let app = TestApp::start().await;
    for body in ["null", "true", "1", "\"text\"", "[]", "[{}]", "{}", ""] {
        assert_eq!(refusal(&sign_up(&app, "application/json", body).await), error(400, "SCHEMA_ERROR"), "{body}");
    }
}

#[tokio::test]
async fn a_body_has_at_most_256_kib() {
    let app = TestApp::start().await;
    let body = |length: usize| {
        let body = json!({ "email": "ada@example.com", "password": "" }).to_string();
        let padding = " ".repeat(length - body.len());
        format!("{body}{padding}")
    };
    let too_large = sign_up(&app, "application/json", body(256 * 1024 + 1)).await;
    assert_eq!(refusal(&too_large), error(413, "BODY_TOO_LARGE"));
    assert_eq!(too_large.json()["details"], json!({ "max_bytes": 256 * 1024 }));
    assert_eq!(refusal(&sign_up(&app, "application/json", body(256 * 1024)).await), error(400, "PASSWORD_TOO_SHORT"));
    assert_eq!(refusal(&sign_up(&app, "application/xml", body(10 << 20)).await), error(413, "BODY_TOO_LARGE"));
    let get = app.client().request("GET", "/api/v1/projects/current").body(body(1 << 20)).send().await;
    assert_eq!(get.status(), 200, "the body of a GET is not read");
}

#[tokio::test]
async fn an_encoded_body_is_refused_whatever_the_encoding() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" }).to_string();
    let send = async |encoding: &str, body: Vec<u8>| {
        let request = app.client().request("POST", SIGN_UP).header("content-type", "application/json");
        request.header("content-encoding", encoding).body(body).send().await
    };
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(body.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    for (encoding, named) in [("gzip", "gzip"), ("GZIP", "GZIP"), ("identity, br", "br"), (" deflate", "deflate"), ("zstd", "zstd")] {
        let answer = send(encoding, gzip.clone()).await;
        assert_eq!(refusal(&answer), error(415, "UNSUPPORTED_CONTENT_ENCODING"), "{encoding}");
        assert_eq!(answer.json()["details"], json!({ "content_encoding": named }));
        assert!(answer.json()["error"].as_str().unwrap().ends_with("send it without `content-encoding`"), "{}", answer.text());
    }
    // Nothing is encoded here.
    for encoding in ["identity", "", "Identity"] {
        assert_eq!(refusal(&send(encoding, b"{}".to_vec()).await), error(400, "SCHEMA_ERROR"), "{encoding}");
    }
    assert_eq!(refusal(&send("gzip", Vec::new()).await), error(400, "SCHEMA_ERROR"), "there is no body");
    assert_eq!(send("identity", body.into()).await.status(), 200);
}

#[tokio::test]
async fn a_byte_order_mark_before_json_is_ignored() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" }).to_string();
    assert_eq!(sign_up(&app, "application/json", format!("\u{feff}{body}")).await.status(), 200);
    assert_eq!(refusal(&sign_up(&app, "", format!("\u{feff}{body}")).await), error(409, "USER_EMAIL_ALREADY_EXISTS"));
    for body in [format!("\u{feff}\u{feff}{body}"), "\u{feff}".to_owned(), format!("{body}\u{feff}")] {
        assert_eq!(refusal(&sign_up(&app, "application/json", body).await), error(400, "BODY_PARSING_ERROR"));
    }
    let form = sign_up(&app, "application/x-www-form-urlencoded", format!("\u{feff}{body}")).await;
    assert!(form.json()["error"].as_str().unwrap().contains("it looks like JSON"), "{}", form.text());
}

#[tokio::test]
async fn a_body_of_very_many_small_values_is_refused_unparsed() {
    let app = TestApp::start().await;
    // The object, its field and the list count as three marks. Each comma between the values is
    // another mark.
    let list = |length: usize| format!("{{\"email\":[{}]}}", vec!["0"; length].join(","));
    let maps = format!("{{\"email\":[{}]}}", vec!["{\"\":0}"; 30_000].join(","));
    for content_type in ["application/json", ""] {
        assert_eq!(refusal(&sign_up(&app, content_type, list(19_998)).await), error(400, "SCHEMA_ERROR"));
        for body in [list(19_999), maps.clone(), "[".repeat(200_000)] {
            let refused = sign_up(&app, content_type, body).await;
            assert_eq!(refusal(&refused), error(400, "BODY_PARSING_ERROR"));
            assert!(refused.text().contains("more than 20000"), "{}", refused.text());
        }
    }
    let text = json!({ "email": "{[,:\"\\".repeat(30_000) }).to_string();
    assert_eq!(refusal(&sign_up(&app, "application/json", text).await), error(400, "SCHEMA_ERROR"), "a text may contain anything");
    let form = |pairs: usize| vec!["a=1"; pairs].join("&");
    let form = async |pairs| refusal(&sign_up(&app, "application/x-www-form-urlencoded", form(pairs)).await);
    assert_eq!([form(20_001).await, form(20_002).await], [error(400, "SCHEMA_ERROR"), error(400, "BODY_PARSING_ERROR")]);
}

#[tokio::test]
async fn an_email_may_be_sent_to_as_many_users_as_a_body_can_name() {
    let app = TestApp::start().await;
    let ids = vec!["6b0f6c3d-1c2e-4f5a-9b8c-7d6e5f403122"; 6600];
    let body = json!({ "user_ids": ids, "html": "<p>Hi</p>", "subject": "Hi", "notification_category_name": "Marketing" });
    assert!(body.to_string().len() > 250 * 1024);
    let answer = app.server().post("/api/v1/emails/send-email", body).await;
    assert!(!["BODY_PARSING_ERROR", "BODY_TOO_LARGE", "SCHEMA_ERROR"].contains(&answer.code().as_str()), "{}", answer.text());
}

#[tokio::test]
async fn a_mistyped_field_is_reported_with_the_expected_type() {
    let app = TestApp::start().await;
    for (value, kind) in [
        (json!(1), "an integer"),
        (json!(1.5), "a number"),
        (json!(true), "a boolean"),
        (json!(null), "null"),
        (json!([]), "an array"),
        (json!({}), "an object"),
    ] {
        let answer = app.client().post(SIGN_UP, json!({ "email": value, "password": value })).await;
        let message = answer.json()["details"]["message"].as_str().unwrap().to_owned();
        assert_eq!(answer.json()["error"], message.as_str());
        for field in ["email", "password"] {
            assert!(message.contains(&format!("\n  - body.{field} must be a string, not {kind}")), "{message}");
        }
        assert!(message.lines().next().unwrap().contains(&format!("POST {SIGN_UP}")), "{message}");
    }
}

#[tokio::test]
async fn invalid_addresses_are_rejected_and_unusual_ones_accepted() {
    let app = TestApp::start().await;
    let long = format!("{}@{}.com", "a".repeat(60), "b".repeat(240));
    let wrong = [
        "",
        " ",
        "ada",
        "@",
        "ada@",
        "@example.com",
        "ada@example",
        "ada@example.c",
        "a..da@example.com",
        ".ada@example.com",
        "ada.@example.com",
        "a da@example.com",
        "ada@exam ple.com",
        "ada@@example.com",
        "ada@example..com",
        "ada@127.0.0.1",
        "ada@[127.0.0.1]",
        "\"ada\"@example.com",
        "ada@example.com\r\nBcc: x@example.com",
        "ada@example.com,bob@example.com",
        "<ada@example.com>",
        "ada\0@example.com",
        "ädä@example.com",
        &long,
    ];
    for email in wrong {
        for (path, url) in [(SIGN_UP, "verification_callback_url"), (SEND_CODE, "callback_url")] {
            let mut body = json!({ "email": email, url: "http://localhost/" });
            if path == SIGN_UP {
                body["password"] = json!("correct horse battery");
            }
            let answer = app.client().post(path, body).await;
            assert_eq!(refusal(&answer), error(400, "SCHEMA_ERROR"), "{email:?}");
            assert!(answer.json()["error"].as_str().unwrap().contains("body.email must be an email address"), "{email:?}");
        }
    }
    assert!(app.app.store.user_ids(app.project_id()).await.unwrap().is_empty());
    for email in
        ["a+b@example.com", "o'hara@example.com", "ada@bücher.example", "x@a.b.c.example.museum", "!#$%&'*+-/=?^_`{|}~@example.com"]
    {
        app.sign_up(email).await;
        app.sign_in(email).await;
    }
}

#[tokio::test]
async fn repeated_keys_and_headers_are_unambiguous() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    assert_eq!(caller.get("/api/v1/auth/sessions?limit=nonsense&limit=1").await.status(), 200, "the last of repeated parameters counts");
    assert_eq!(refusal(&caller.get("/api/v1/auth/sessions?limit=1&limit=nonsense").await), error(400, "SCHEMA_ERROR"));
    let same = caller.request("GET", "/api/v1/users/me").header("x-stack-access-type", "client").send().await;
    assert_eq!(same.status(), 200);
    let other = caller.request("GET", "/api/v1/users/me").header("x-stack-access-type", "server").send().await;
    assert_eq!(refusal(&other), error(400, "CONFLICTING_HEADERS"));
    let body = br#"{"email":"x","email":"bob@example.com","password":"correct horse battery"}"#;
    assert_eq!(sign_up(&app, "application/json", *body).await.status(), 200, "the last of repeated fields counts");
}

#[tokio::test]
async fn ids_are_uuids_and_paths_are_taken_literally() {
    let app = TestApp::start().await;
    for id in [
        "x",
        "7f3c2a4e3f5b4d0e9a560f1f6c8f3d21",
        "7f3c2a4e-3f5b-0d0e-9a56-0f1f6c8f3d21",
        "{7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21}",
        "ME",
        "1%20OR%201=1",
    ] {
        let answer = app.server().get(&format!("/api/v1/auth/sessions?user_id={id}")).await;
        assert_eq!(refusal(&answer), error(400, "SCHEMA_ERROR"), "{id}");
    }
    for id in ["x", "..%2f..", "%2e%2e", "a%2fb", "%00", "me"] {
        let answer = app.server().get(&format!("/api/v1/emails/outbox/{id}")).await;
        assert!([400, 404].contains(&answer.status()), "{id}: {}", answer.text());
    }
}

#[tokio::test]
async fn an_invalid_setting_changes_nothing() {
    let app = TestApp::start().await;
    let settings = project_settings(&app).await;
    let good = json!({ "display_name": "Changed", "config": { "sign_up_enabled": false } });
    let wrong = [
        ("session_max_age_seconds", json!(299)),
        ("session_max_idle_seconds", json!(31_708_801)),
        ("password_min_length", json!(7)),
        ("password_min_length", json!(129)),
        ("password_min_length", json!(-1)),
        ("domains", json!([{ "domain": "javascript:alert(1)" }])),
        ("domains", json!([{ "domain": "https://example.com", "handler_path": "relative" }])),
        ("oauth_providers", json!([{ "id": "github", "client_id": "x" }])),
        ("oauth_providers", json!([{ "id": "github", "type": "shared", "client_id": "x", "client_secret": "x" }])),
        ("email_config", json!({ "type": "nothing" })),
        ("sign_up_enabled", json!("maybe")),
        ("unknown", json!(1)),
    ];
    for (name, value) in wrong {
        let mut body: Value = good.clone();
        body["config"][name] = value;
        let answer = app.admin().patch("/api/v1/internal/projects/current", body).await;
        assert_eq!(refusal(&answer), error(400, "SCHEMA_ERROR"), "{name}");
        assert!(answer.json()["error"].as_str().unwrap().contains(&format!("body.config.{name}")), "{}", answer.text());
    }
    assert_untouched(&app, &settings).await;
    app.configure(json!({ "config": { "email_config": { "type": "standard", "sender_name": "Ada", "sender_email": "ada@example.com" } } }))
        .await;
    assert_eq!(project_settings(&app).await["config"]["email_config"]["type"], "standard");
}

#[tokio::test]
async fn json_errors_report_position_and_expectation_but_not_the_input() {
    let app = TestApp::start().await;
    let cases = [
        ("{\"email\" \"ada@example.com\"}", "expected `:` at line 1 column 10"),
        ("{\n  \"email\": \"ada@example.com\",\n}", "trailing comma at line 3 column 1"),
        ("{'email': 1}", "key must be a string at line 1 column 2"),
        ("{\"password\": secret}", "expected value at line 1 column 14"),
        ("{\"email\": \"ada@example.com\"", "EOF while parsing an object at line 1 column 27"),
    ];
    for (body, expected) in cases {
        let answer = sign_up(&app, "application/json", body).await;
        let message = answer.json()["error"].as_str().unwrap().to_owned();
        assert_eq!(message, format!("the body cannot be parsed: it is not valid JSON: {expected}"));
        assert!(!answer.text().contains("secret") && !answer.text().contains("ada@"), "{}", answer.text());
    }
}

#[tokio::test]
async fn json_requires_no_content_type_but_a_wrong_one_is_explained() {
    let app = TestApp::start().await;
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" }).to_string();
    let unlabelled = app.client().request("POST", SIGN_UP).body(body.clone()).send().await;
    assert_eq!(unlabelled.status(), 200, "{}", unlabelled.text());
    let neither = app.client().request("POST", SIGN_UP).body("email=ada").send().await;
    assert_eq!(refusal(&neither), error(400, "BODY_PARSING_ERROR"));
    assert!(neither.json()["error"].as_str().unwrap().contains("no content type and is not valid JSON: expected value at line 1 column 1"));
    for content_type in ["application/x-www-form-urlencoded", "text/plain;charset=UTF-8", "application/octet-stream"] {
        let answer = sign_up(&app, content_type, format!(" {body}")).await;
        assert_eq!(refusal(&answer), error(400, "BODY_PARSING_ERROR"));
        let media_type = content_type.split(';').next().unwrap();
        let expected = format!("it looks like JSON, but its content type is {media_type}; send `content-type: application/json`");
        assert!(answer.json()["error"].as_str().unwrap().ends_with(&expected), "{}", answer.text());
        assert!(!answer.text().contains("horse"), "the body is not echoed: {}", answer.text());
    }
}
