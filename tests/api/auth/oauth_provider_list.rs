//! `GET /api/v1/oauth-providers` without a user, which lists the accounts of all users for servers.

use model::email::Email;
use model::provider::account::ProviderAccount;
use model::user::MAX_ACCOUNTS;
use serde_json::{Value, json};
use support::TestApp;

use super::assert_error;
use super::oauth_callback::{ada, sign_in, start};
use crate::stored::change_user;

const ACCOUNTS: &str = "/api/v1/oauth-providers";

/// All accounts of the project, read in pages of at most `limit` users.
async fn all(app: &TestApp, limit: usize) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.server().get(&format!("{ACCOUNTS}?limit={limit}{cursor}")).await;
        assert_eq!(page.status(), 200, "{}", page.text());
        let page = page.json();
        assert_eq!(page["is_paginated"], true);
        items.extend(page["items"].as_array().unwrap().clone());
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { return items };
        cursor = format!("&cursor={next}");
    }
}

#[tokio::test]
async fn a_server_lists_the_accounts_of_all_users_in_pages() {
    let (app, provider) = start().await;
    let mut users = Vec::new();
    for number in 0..5 {
        app.sign_up(&format!("without{number}@example.com")).await;
        app.advance(jiff::SignedDuration::from_secs(1));
        users.push(sign_in(&app, &provider, json!({ "sub": format!("acme|{number}") })).await.0.user_id);
    }
    let second = json!({
        "user_id": users[1], "provider_config_id": "acme", "account_id": "another", "allow_sign_in": false, "allow_connected_accounts": true,
    });
    assert_eq!(app.server().post(ACCOUNTS, second).await.status(), 201);
    for limit in [1, 2, 100] {
        let found = all(&app, limit).await;
        let ids: Vec<&str> = found.iter().map(|item| item["account_id"].as_str().unwrap()).collect();
        assert_eq!(ids, ["acme|0", "acme|1", "another", "acme|2", "acme|3", "acme|4"]);
        assert!(found[2]["user_id"] == users[1].as_str() && found[2]["allow_sign_in"] == false);
    }
}

#[tokio::test]
async fn only_servers_list_all_accounts_and_only_those_of_their_project() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let other = app.another_project().await;
    assert_eq!(app.server_of(&other).get(ACCOUNTS).await.json()["items"], json!([]));
    assert_error(&app.signed_in(&user).get(ACCOUNTS).await, 403, "FORBIDDEN");
    assert_error(&app.client().get(ACCOUNTS).await, 403, "FORBIDDEN");
    for limit in ["0", "101"] {
        assert_error(&app.server().get(&format!("{ACCOUNTS}?limit={limit}")).await, 400, "SCHEMA_ERROR");
    }
    assert_error(&app.server().get(&format!("{ACCOUNTS}?cursor=made-up")).await, 400, "INVALID_CURSOR");
    app.sign_up("eve@example.com").await;
    app.sign_up("mallory@example.com").await;
    let cursor = app.server().get("/api/v1/users?limit=1").await.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    assert_error(&app.server().get(&format!("{ACCOUNTS}?cursor={cursor}")).await, 400, "INVALID_CURSOR");
}

#[tokio::test]
async fn a_list_of_accounts_with_long_ids_has_pages_of_a_megabyte() {
    let (app, provider) = start().await;
    for number in 0..100 {
        let (user, _) = sign_in(&app, &provider, json!({ "sub": format!("acme|{number}") })).await;
        let entropy = &app.app.entropy;
        change_user(&app, &user, |user| {
            let own = user.provider_accounts[0].clone();
            let email = Email::parse(&format!("{}@{}.example", "u".repeat(64), "d".repeat(60))).unwrap();
            user.provider_accounts = (0..MAX_ACCOUNTS)
                .map(|account| ProviderAccount {
                    id: entropy.uuid().into(),
                    account_id: format!("{number:03}{account:02}{}", "x".repeat(507)),
                    email: Some(email.clone()),
                    ..own.clone()
                })
                .collect();
        })
        .await;
        app.advance(jiff::SignedDuration::from_secs(1));
    }
    let (mut found, mut cursor, mut pages) = (Vec::new(), String::new(), 0);
    loop {
        let page = app.server().get(&format!("{ACCOUNTS}?limit=100{cursor}")).await;
        assert!(page.bytes().len() <= 1_001_000, "{} bytes", page.bytes().len());
        pages += 1;
        let page = page.json();
        found.extend(page["items"].as_array().unwrap().iter().map(|item| item["account_id"].as_str().unwrap()[..5].to_owned()));
        let Some(next) = page["pagination"]["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    let expected: Vec<String> =
        (0..100).flat_map(|number| (0..MAX_ACCOUNTS).map(move |account| format!("{number:03}{account:02}"))).collect();
    assert_eq!((pages, found), (2, expected));
}
