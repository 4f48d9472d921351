//! Requests that no real client sends, and unusually large amounts of data, do not cause internal
//! errors or partial writes. The resulting errors have the form of the interface.

mod bodies;
mod large;
mod problems;
mod sweep;

use api::http::Interface;
use api::product::oauth_error::OauthErrorCode;
use errors::KnownError;
use serde_json::{Value, json};
use strum::VariantNames as _;
use support::{Answer, TestApp};

/// Asserts that the response is not an internal error, and that an error has the form of its
/// interface.
#[track_caller]
fn assert_is_answered(answer: &Answer, interface: Interface, what: &str) {
    assert!(answer.status() < 500, "{what}: {} {}", answer.status(), answer.text());
    if answer.status() < 400 || answer.text().is_empty() {
        return;
    }
    // The links in emails open pages.
    if answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
        assert!(interface == Interface::Pages || what.contains("-link"), "{what}");
        return;
    }
    let body = answer.json();
    let fields = |value: &Value| value.as_object().map(|object| object.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    if interface == Interface::Agents {
        assert!(body["jsonrpc"] == "2.0" && body["error"]["code"].is_i64(), "{what}: {body}");
    } else if interface == Interface::Content {
        assert_eq!(
            (fields(&body), fields(&body["error"])),
            (vec!["error".to_owned()], ["code", "documentation_url", "hint", "message"].map(str::to_owned).to_vec()),
            "{what}"
        );
    } else {
        assert!(KnownError::CODES.contains(&answer.code().as_str()), "{what}: {body}");
        let is_named = body["error"].as_str().is_some_and(|name| OauthErrorCode::VARIANTS.contains(&name));
        let allowed = ["code", "details", "documentation_url", "error", "hint"].into_iter().chain(is_named.then_some("error_description"));
        let allowed: Vec<&str> = allowed.collect();
        assert!(fields(&body).iter().all(|field| allowed.contains(&field.as_str())), "{what}: {body}");
        assert!(["hint", "documentation_url"].iter().all(|name| body[*name].is_string()), "{what}: {body}");
    }
}

/// Asserts that the project has no user who can sign in, no email and no changed setting. Users who
/// cannot sign in are permitted, because servers and visitors can create them with an empty body.
async fn assert_untouched(app: &TestApp, settings: &Value) {
    for id in app.app.store.user_ids(app.project_id()).await.unwrap() {
        let user = app.app.store.user(app.project_id(), id).await.unwrap().unwrap().user;
        assert!(user.channels.is_empty() && user.password.is_none() && user.display_name.is_none(), "{user:?}");
    }
    let mails = app.server().get("/api/v1/emails/outbox").await.json();
    assert_eq!(mails["items"], json!([]));
    assert_eq!(&project_settings(app).await, settings);
}

async fn project_settings(app: &TestApp) -> Value {
    app.admin().get("/api/v1/internal/projects/current").await.json()
}
