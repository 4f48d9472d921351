//! Each identity token of Apple's native sign-in can be used for only one successful sign-in.

use serde_json::{Value, json};

use super::assert_error;
use super::oauth_apple_native::{INVALID, claims, configure, send, start, with};

/// Tokens are read without surrounding blanks. The record of a used token does not include the
/// blanks.
#[tokio::test]
async fn a_token_with_blanks_around_it_is_no_other_token() {
    let (app, apple) = start().await;
    for (number, written) in [" {}", "{} ", "\n{}", "{}\r\n", "\t {}\u{a0}", "\u{2003}{}"].into_iter().enumerate() {
        let token = apple.key().sign(&with(claims(&app, &format!("001.{number}")), "email", Value::Null));
        assert_eq!(send(&app.client(), &token).await.status(), 200);
        assert_error(&send(&app.client(), &written.replace("{}", &token)).await, 400, INVALID);
    }
    let token = apple.key().sign(&claims(&app, "001.a"));
    assert_eq!(send(&app.client(), &format!(" {token}\n")).await.status(), 200, "people may paste blanks");
    assert_error(&send(&app.client(), &token).await, 400, INVALID);
}

#[tokio::test]
async fn a_refused_sign_in_does_not_use_up_its_token() {
    let (app, apple) = start().await;
    configure(&app, &apple, json!({ "sign_up_enabled": false })).await;
    let token = apple.key().sign(&claims(&app, "001.a"));
    assert_error(&send(&app.client(), &token).await, 400, "SIGN_UP_NOT_ENABLED");
    let rule = json!({ "id": "r", "condition": "emailDomain == \"example.com\"", "action": { "type": "reject" } });
    configure(&app, &apple, json!({ "sign_up_enabled": true, "sign_up_rules": [rule] })).await;
    assert_error(&send(&app.client(), &token).await, 403, "SIGN_UP_REJECTED");
    configure(&app, &apple, json!({ "sign_up_rules": [] })).await;
    assert_eq!(send(&app.client(), &token).await.status(), 200);
}

#[tokio::test]
async fn an_outage_of_apple_does_not_use_up_a_token() {
    let (app, apple) = start().await;
    let token = apple.key().sign(&claims(&app, "001.a"));
    apple.fail(true);
    assert_error(&send(&app.client(), &token).await, 503, "OAUTH_PROVIDER_TEMPORARILY_UNAVAILABLE");
    apple.fail(false);
    assert_eq!(send(&app.client(), &token).await.status(), 200);
}
