//! Requests with unknown tokens, invitations, keys, projects or links count towards a limit of the
//! caller, and do not create a table item for each value.

use std::collections::BTreeSet;

use crypto::digest::Digest;
use infra::operations;
use model::limit::{Limits, Rule};
use serde_json::{Value, json};
use support::{Caller, TestApp};

use super::*;

const UNKNOWN_PROJECT: &str = "11111111-2222-4333-8444-555555555555";

/// A service with the standard limits, and a recorder that does not contain the setup's calls.
async fn standard() -> TestApp {
    let app = TestApp::start_with(Limits::standard()).await;
    app.recorder.clear();
    app
}

/// The partitions that calls have written to since the recorder was last cleared. Also asserts that
/// there were no transactions.
fn written(app: &TestApp) -> BTreeSet<String> {
    let key = |body: &str| {
        let body: Value = serde_json::from_str(body).unwrap();
        [&body["Key"], &body["Item"]].iter().find_map(|item| item["pk"]["S"].as_str().map(str::to_owned))
    };
    let calls = app.recorder.calls();
    let (transactions, writes): (Vec<_>, Vec<_>) = calls
        .iter()
        .filter(|(operation, _)| !operation.contains("Get") && operation != "Query")
        .partition(|(name, _)| name.starts_with("Transact"));
    assert!(transactions.is_empty(), "{transactions:?}");
    writes.iter().filter_map(|(_, body)| key(body)).collect()
}

/// Sends made-up values until the rate limit rejects one, and returns the partitions that the
/// requests wrote to.
async fn made_up<F: Future<Output = Answer>>(app: &TestApp, rule: Rule, code: &str, mut send: impl FnMut(usize) -> F) -> BTreeSet<String> {
    for number in 0..rule.standard().quota as usize {
        assert_eq!(send(number).await.code(), code, "{number}");
    }
    for number in 1000..1030 {
        let refused = send(number).await;
        assert_refused(&refused, rule.limit().name(), rule.standard());
    }
    // The requests of an IP address or network are added to the counter in the table only from time
    // to time.
    let is_of_place = |pk: &String| Rule::ALL.iter().any(|rule| rule.is_batched() && pk.contains(&format!("#{}#", rule.name())));
    written(app).into_iter().filter(|pk| !is_of_place(pk)).collect()
}

#[tokio::test]
async fn unknown_refresh_tokens_are_rejected_and_leave_one_item() {
    let app = standard().await;
    let token = |number: usize| format!("{number:045}");
    let refresh = |number| {
        let client = app.client().with("x-stack-refresh-token", &token(number));
        async move { client.post(REFRESH, json!({})).await }
    };
    let written = made_up(&app, Rule::TokenUnknown, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED", refresh).await;
    assert_eq!(written.len(), 1, "{written:?}");
    // A user at the same IP address can still use a valid refresh token.
    let ada = app.sign_up("ada@example.com").await;
    assert_eq!(app.signed_in(&ada).post(REFRESH, json!({})).await.status(), 200);
}

#[tokio::test]
async fn unknown_grants_are_rejected_and_leave_one_item() {
    let app = standard().await;
    let exchange = |number: usize| {
        let body =
            json!({ "grant_type": "refresh_token", "client_id": app.project_id().as_str(), "refresh_token": format!("{number:045}") });
        let client = app.anonymous();
        async move { client.post(TOKEN, body).await }
    };
    let written = made_up(&app, Rule::TokenUnknown, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED", exchange).await;
    assert_eq!(written.len(), 1, "{written:?}");
}

#[tokio::test]
async fn unknown_invitations_are_rejected_and_leave_one_item() {
    for (operation, signs_in) in [("check-code", false), ("check-code", true), ("details", true), ("", true)] {
        let app = standard().await;
        let ada = app.sign_up("ada@example.com").await;
        app.recorder.clear();
        let ask = |number: usize| {
            let client = if signs_in { app.signed_in(&ada) } else { app.client() };
            let path = format!("/api/v1/team-invitations/accept/{operation}");
            async move { client.post(path.trim_end_matches('/'), json!({ "code": format!("{number:045}") })).await }
        };
        let written = made_up(&app, Rule::Code, "VERIFICATION_CODE_NOT_FOUND", ask).await;
        assert_eq!(written.len(), 1, "{operation}: {written:?}");
    }
}

#[tokio::test]
async fn unknown_keys_are_rejected_and_leave_one_item() {
    let app = standard().await;
    let ask = |number: usize| {
        let server = app.server().with("x-stack-secret-server-key", &format!("ssk_{number:045}"));
        async move { server.delete("/api/v1/auth/sessions/018f0b6c-1e2f-7b4d-8a34-5b9f0c6d7e81").await }
    };
    let written = made_up(&app, Rule::Unproved, "INVALID_SECRET_SERVER_KEY", ask).await;
    assert_eq!(written.len(), 1, "{written:?}");
    // A caller who has a valid key can still use the key.
    assert_eq!(app.server().get("/api/v1/users").await.status(), 200);
}

#[tokio::test]
async fn unknown_keys_at_operations_that_only_read_leave_no_items() {
    let app = standard().await;
    let ask = |number: usize| {
        let server = app.server().with("x-stack-secret-server-key", &format!("ssk_{number:045}"));
        async move { server.get("/api/v1/users").await }
    };
    let written = made_up(&app, Rule::Unproved, "INVALID_SECRET_SERVER_KEY", ask).await;
    assert!(written.is_empty(), "the function's role cannot count in the table: {written:?}");
}

#[tokio::test]
async fn unknown_projects_are_rejected_and_leave_no_items() {
    let app = standard().await;
    let ask = |number: usize| {
        let client = app.client().with("x-stack-project-id", &UNKNOWN_PROJECT.replace("55555", &format!("{number:05}")));
        async move { client.post(SIGN_IN, nobody(number)).await }
    };
    let written = made_up(&app, Rule::Unproved, "CURRENT_PROJECT_NOT_FOUND", ask).await;
    assert!(written.is_empty(), "{written:?}");
    assert!(!is_refused(&app.client().post(SIGN_IN, nobody(0)).await));
}

/// One network has up to 65,536 addresses, each with a separate quota.
#[tokio::test]
async fn unknown_projects_and_tokens_from_a_network_count_together() {
    let app = TestApp::start_with(only(Rule::UnprovedNetwork, 4, 600)).await;
    let ask = async |address: &str, number: usize| {
        if number.is_multiple_of(2) {
            let client = app.client().with("x-stack-project-id", &UNKNOWN_PROJECT.replace("55555", &format!("{number:05}")));
            at(client, address).post(SIGN_IN, nobody(number)).await
        } else {
            at(app.client(), address).with("x-stack-refresh-token", &format!("{number:045}")).post(REFRESH, json!({})).await
        }
    };
    for number in 0..4 {
        assert!(!is_refused(&ask(&format!("203.0.113.{number}"), number).await), "{number}");
    }
    for number in 4..6 {
        assert_refused(&ask(&format!("203.0.113.{number}"), number).await, Rule::UnprovedNetwork.limit().name(), Rate::new(4, 600));
    }
    assert!(!is_refused(&ask("203.0.114.4", 4).await), "another network");
    assert!(!is_refused(&at(app.client(), "203.0.113.7").get("/api/v1/projects/current").await), "a request that proves its project");
}

#[tokio::test]
async fn oauth_clients_of_unknown_projects_leave_no_items() {
    let app = standard().await;
    let exchange = |number: usize| {
        let id = UNKNOWN_PROJECT.replace("55555", &format!("{number:05}"));
        let body = json!({ "grant_type": "refresh_token", "client_id": id, "refresh_token": "0".repeat(45) });
        let client = app.anonymous();
        async move { client.post(TOKEN, body).await }
    };
    let written = made_up(&app, Rule::Unproved, "INVALID_OAUTH_CLIENT_ID_OR_SECRET", exchange).await;
    assert!(written.is_empty(), "{written:?}");
}

#[tokio::test]
async fn unknown_links_are_rejected_and_leave_no_items() {
    for page in ["auth/not-me-link", "contact-channels/release-link", "emails/unsubscribe-link"] {
        let app = standard().await;
        let follow = async |number: usize| {
            let method = if number.is_multiple_of(2) { "GET" } else { "POST" };
            app.anonymous().request(method, &format!("/api/v1/{page}?code={number:045}")).send().await
        };
        for number in 0..Rule::Unproved.standard().quota as usize {
            assert_eq!(follow(number).await.status(), 404, "{number}");
        }
        for number in 1000..1010 {
            assert_refused(&follow(number).await, Rule::Unproved.limit().name(), Rule::Unproved.standard());
        }
        let written = written(&app);
        assert!(written.is_empty(), "{page}: {written:?}");
    }
}

/// A path with made-up ids that differ for each number.
fn made_up_path(app: &TestApp, path: &str, number: usize) -> String {
    let id = UNKNOWN_PROJECT.replace("55555", &format!("{number:05}"));
    let project = if path.contains("images") { app.project_id().to_string() } else { id.clone() };
    let path = path.replace("{project_id}", &project).replace("{digest}", Digest::of(&id).as_str());
    path.split('/').map(|part| if part.starts_with('{') { id.as_str() } else { part }).collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn reads_of_unknown_ids_without_a_session_leave_no_items() {
    for (path, code) in [
        ("/api/v1/projects/{project_id}/users/{user_id}/images/{digest}", "PROFILE_IMAGE_NOT_FOUND"),
        ("/api/v1/projects/{project_id}/teams/{team_id}/images/{digest}", "PROFILE_IMAGE_NOT_FOUND"),
        ("/api/v1/projects/{project_id}/.well-known/jwks.json", "PROJECT_NOT_FOUND"),
        ("/api/v1/projects/{project_id}/.well-known/webauthn", "PROJECT_NOT_FOUND"),
    ] {
        let app = standard().await;
        let ask = |number: usize| {
            let (client, path) = (app.anonymous(), made_up_path(&app, path, number));
            async move { client.get(&path).await }
        };
        let written = made_up(&app, Rule::Unproved, code, ask).await;
        assert!(written.is_empty(), "{path}: {written:?}");
        let known = format!("/api/v1/projects/{}/.well-known/jwks.json", app.project_id());
        assert_eq!(app.anonymous().get(&known).await.status(), 200, "what exists is still answered");
    }
}

/// The test covers new operations automatically.
#[tokio::test]
async fn every_read_that_finds_nothing_without_a_session_is_counted() {
    let app = TestApp::start_with(only(Rule::Unproved, 1, 600)).await;
    let ada = app.sign_up("ada@example.com").await;
    let mut counted = BTreeSet::new();
    for (index, operation) in operations::all().into_iter().enumerate() {
        if !operation.description.counts_reads || operation.route.limit.is_some() {
            continue;
        }
        for (caller, place) in [(app.anonymous(), "203.0.113"), (app.client(), "198.51.100")] {
            let place = format!("{place}.{index}");
            let ask =
                async |caller: &Caller, number| at(caller.clone(), &place).get(&made_up_path(&app, operation.route.path, number)).await;
            if ask(&caller, 0).await.status() == 404 {
                let second = ask(&caller, 1).await;
                assert!(is_refused(&second), "{}: {}", operation.route.name, second.text());
                counted.insert(operation.route.name);
                let is_open = operation.description.level.is_none();
                assert!(is_open || !is_refused(&ask(&app.signed_in(&ada), 2).await), "{}: a user", operation.route.name);
            }
        }
    }
    assert!(counted.len() >= 4 && counted.contains("users-user-image-read"), "{counted:?}");
}
