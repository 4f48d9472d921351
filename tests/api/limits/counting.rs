//! The standard quotas, also with concurrent requests, which are counted like consecutive requests.

use model::limit::{Limits, Rule};
use serde_json::json;
use support::TestApp;

use super::*;

/// A service with the standard limit of one rule, and with no other limits.
async fn standard(rule: Rule) -> TestApp {
    TestApp::start_with(Limits::off().with(rule, Some(rule.standard()))).await
}

/// If a quota is larger, only this many requests are sent, and the rest of the quota is added to
/// the counter.
const SENT: usize = 60;

async fn assert_standard<F: Future<Output = Answer>>(
    app: &TestApp,
    rule: Rule,
    quota: usize,
    window: u32,
    mut send: impl FnMut(usize) -> F,
) {
    assert!(!is_refused(&send(0).await));
    let added = quota.saturating_sub(SENT);
    if added > 0 {
        raise(app, rule, added);
    }
    let (let_through, refused) = exhaust(|number| send(number + 1)).await;
    assert_eq!((1 + added + let_through, rule.standard().window()), (quota, window));
    assert_refused(&refused, rule.limit().name(), rule.standard());
}

/// Adds to the only counter of a rule.
fn raise(app: &TestApp, rule: Rule, by: usize) {
    let counters = app.table().into_keys().filter(|(pk, _)| pk.starts_with("L#") && pk.contains(&format!("#{}#", rule.name())));
    let [(pk, sk)] = &counters.collect::<Vec<_>>()[..] else { panic!("{} has one counter", rule.name()) };
    let update = json!({
        "TableName": gateway::engine::TABLE,
        "Key": { "pk": { "S": pk }, "sk": { "S": sk } },
        "UpdateExpression": "ADD n :by",
        "ExpressionAttributeValues": { ":by": { "N": by.to_string() } },
    });
    app.database().update_item(serde_json::from_value(update).unwrap()).unwrap();
}

#[tokio::test]
async fn an_address_can_sign_up_20_times_in_10_minutes() {
    let app = standard(Rule::SignUp).await;
    let client = app.client();
    assert_standard(&app, Rule::SignUp, 20, 600, |number| {
        let body = json!({ "email": format!("user{number}@example.com"), "password": "correct horse battery" });
        client.post(SIGN_UP, body)
    })
    .await;
}

#[tokio::test]
async fn an_address_can_have_300_anonymous_visitors_in_10_minutes() {
    let app = standard(Rule::AnonymousSignUp).await;
    let client = app.client();
    assert_standard(&app, Rule::AnonymousSignUp, 300, 600, |_| client.post(ANONYMOUS, json!({}))).await;
}

#[tokio::test]
async fn visitors_of_an_address_leave_its_sign_ups_to_its_users() {
    let app = TestApp::start_with(Limits::standard()).await;
    for _ in 0..25 {
        assert_eq!(app.client().post(ANONYMOUS, json!({})).await.status(), 200);
    }
    app.sign_up("ada@example.com").await;
}

#[tokio::test]
async fn servers_of_a_project_can_sign_up_600_users_a_minute() {
    let app = standard(Rule::SignUpServer).await;
    let server = app.server();
    assert_standard(&app, Rule::SignUpServer, 600, 60, |_| server.post(ANONYMOUS, json!({}))).await;
}

#[tokio::test]
async fn an_address_can_try_60_passwords_in_10_minutes() {
    let app = standard(Rule::SignIn).await;
    let client = app.client();
    assert_standard(&app, Rule::SignIn, 60, 600, |number| client.post(SIGN_IN, nobody(number))).await;
}

#[tokio::test]
async fn an_address_can_check_60_codes_in_10_minutes() {
    let app = standard(Rule::Code).await;
    let client = app.client();
    assert_standard(&app, Rule::Code, 60, 600, |_| client.post(CHECK, json!({ "code": "0".repeat(45) }))).await;
}

#[tokio::test]
async fn servers_of_a_project_can_check_600_codes_a_minute() {
    let app = standard(Rule::CodeServer).await;
    let server = app.server();
    assert_standard(&app, Rule::CodeServer, 600, 60, |_| server.post(CHECK, json!({ "code": "0".repeat(45) }))).await;
}

#[tokio::test]
async fn a_session_gets_60_tokens_in_10_minutes() {
    let app = standard(Rule::Token).await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let exchange = json!({ "grant_type": "refresh_token", "client_id": app.project_id().as_str(), "refresh_token": ada.refresh_token });
    let (client, nobody) = (app.signed_in(&ada), app.anonymous());
    // Both ways to refresh share a counter, regardless of the access type.
    assert_standard(&app, Rule::Token, 60, 600, |number| {
        if number % 2 == 0 { client.post(REFRESH, json!({})) } else { nobody.post(TOKEN, exchange.clone()) }
    })
    .await;
    assert_eq!(app.signed_in(&bob).post(REFRESH, json!({})).await.status(), 200);
}

#[tokio::test]
async fn an_address_can_start_60_oauth_flows_in_10_minutes() {
    let app = standard(Rule::Authorize).await;
    app.configure(json!({ "config": { "oauth_providers": [{ "id": "github", "client_id": "a", "client_secret": "b" }] } })).await;
    let path = format!(
        "/api/v1/auth/oauth/authorize/github?client_id={}&client_secret={}&redirect_uri=http%3A%2F%2Flocalhost%3A3000%2Fback&scope=legacy\
         &state=s&grant_type=authorization_code&response_type=code&response_mode=json&code_challenge_method=S256&code_challenge={}",
        app.project_id(),
        api::product::access::NO_KEY,
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    );
    let client = app.anonymous();
    assert_standard(&app, Rule::Authorize, 60, 600, |_| client.get(&path)).await;
    assert!(!is_refused(&at(app.anonymous(), "203.0.113.8").get(&path).await));
}

#[tokio::test]
async fn a_user_can_write_300_times_a_minute() {
    let app = standard(Rule::Write).await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let path = "/api/v1/passkeys/me/018f0b6c-1e2f-7b4d-8a34-5b9f0c6d7e81";
    let client = app.signed_in(&ada);
    assert_standard(&app, Rule::Write, 300, 60, |_| client.patch(path, json!({ "name": "Phone" }))).await;
    assert_eq!(app.signed_in(&bob).patch(path, json!({ "name": "Phone" })).await.code(), "PASSKEY_NOT_FOUND");
}

#[tokio::test]
async fn a_server_key_can_write_3000_times_a_minute() {
    let app = standard(Rule::WriteServer).await;
    let path = "/api/v1/auth/sessions/018f0b6c-1e2f-7b4d-8a34-5b9f0c6d7e81";
    let server = app.server();
    assert_standard(&app, Rule::WriteServer, 3000, 60, |_| server.delete(path)).await;
    assert_eq!(app.admin().delete(path).await.code(), "SESSION_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_requests_do_not_exceed_the_limit() {
    let app = standard(Rule::SignIn).await;
    let client = app.client();
    let requests = (0..200).map(|number| {
        let client = client.clone();
        tokio::spawn(async move { client.post(SIGN_IN, nobody(number)).await })
    });
    let mut let_through = 0;
    for request in requests.collect::<Vec<_>>() {
        let answer = request.await.unwrap();
        if is_refused(&answer) {
            assert_refused(&answer, "sign-in", Rule::SignIn.standard());
        } else {
            assert_eq!(answer.code(), "EMAIL_PASSWORD_MISMATCH");
            let_through += 1;
        }
    }
    assert_eq!(let_through, 60);
}

#[tokio::test]
async fn requests_without_a_key_do_not_use_the_project_s_quota() {
    let app = TestApp::start_with(Limits::off().with(Rule::CodeServer, Some(Rate::new(2, 60)))).await;
    let wrong = app.server().with("x-stack-secret-server-key", "ssk_wrong");
    let code = json!({ "code": "0".repeat(45) });
    for _ in 0..5 {
        assert_eq!(wrong.post(CHECK, code.clone()).await.code(), "INVALID_SECRET_SERVER_KEY");
    }
    let server = app.server();
    let (let_through, _) = exhaust(|_| server.post(CHECK, code.clone())).await;
    assert_eq!(let_through, 2);
}
