//! `/api/v1/oauth-providers`, with tests about a user's accounts at providers, their permitted
//! uses, and unlinking.

use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

use super::oauth_callback::{ada, error_of, exchange, flow, parameter, sign_in, start};
use super::{assert_error, opens_own_data};

const ACCOUNTS: &str = "/api/v1/oauth-providers";
const CONNECTED: &str = "/api/v1/connected-accounts";

async fn own(app: &TestApp, user: &SignedInUser) -> Vec<Value> {
    let list = app.signed_in(user).get(&format!("{ACCOUNTS}?user_id=me")).await;
    assert_eq!(list.status(), 200, "{}", list.text());
    list.json()["items"].as_array().unwrap().clone()
}

/// The path of a user's first account at a provider.
async fn first(app: &TestApp, user: &SignedInUser) -> String {
    format!("{ACCOUNTS}/me/{}", own(app, user).await[0]["id"].as_str().unwrap())
}

fn new_account(user: &SignedInUser, account_id: &str) -> Value {
    json!({
        "user_id": user.user_id, "provider_config_id": "acme", "account_id": account_id, "email": "ada@acme.example",
        "allow_sign_in": true, "allow_connected_accounts": false,
    })
}

async fn create(app: &TestApp, user: &SignedInUser, account_id: &str) -> Answer {
    app.server().post(ACCOUNTS, new_account(user, account_id)).await
}

fn items(app: &TestApp, pk: &str, sk: &str) -> usize {
    app.table().keys().filter(|key| key.0.starts_with(pk) && key.1.starts_with(sk)).count()
}

#[tokio::test]
async fn users_list_their_accounts_and_servers_also_see_provider_ids() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let account = own(&app, &user).await[0].clone();
    let expected = json!({
        "user_id": user.user_id, "id": account["id"], "email": "ada@example.com", "provider_config_id": "acme", "type": "oidc",
        "allow_sign_in": true, "allow_connected_accounts": true,
    });
    assert_eq!(account, expected);
    let path = first(&app, &user).await;
    assert_eq!(app.signed_in(&user).get(&path).await.json(), expected);
    let by_server = app.server().get(&path.replace("me", &user.user_id)).await;
    assert_eq!(by_server.json()["account_id"], "acme|1");
    let listed = app.server().get(&format!("{ACCOUNTS}?user_id={}", user.user_id)).await.json();
    assert_eq!((&listed["items"], &listed["is_paginated"]), (&json!([by_server.json()]), &false.into()));

    let eve = app.sign_up("eve@example.com").await;
    assert_error(&app.signed_in(&eve).get(&path.replace("me", &user.user_id)).await, 403, "FORBIDDEN");
    assert_error(&app.signed_in(&eve).get(&path).await, 404, "PROVIDER_ACCOUNT_NOT_FOUND");
    assert_error(&app.signed_in(&eve).get(&format!("{ACCOUNTS}?user_id={}", user.user_id)).await, 403, "FORBIDDEN");
    assert_error(&app.signed_in(&eve).get(ACCOUNTS).await, 403, "FORBIDDEN");
    assert_error(&app.client().get(&format!("{ACCOUNTS}?user_id=me")).await, 400, "CANNOT_GET_OWN_USER_WITHOUT_USER");
}

#[tokio::test]
async fn a_server_can_add_an_account_that_then_signs_in() {
    let (app, provider) = start().await;
    let user = app.sign_up("ada@elsewhere.example").await;
    let created = create(&app, &user, "acme|1").await;
    assert_eq!(created.status(), 201, "{}", created.text());
    let body = created.json();
    assert_eq!((&body["account_id"], &body["email"], &body["type"]), (&"acme|1".into(), &"ada@acme.example".into(), &"oidc".into()));
    let (same, _) = sign_in(&app, &provider, ada()).await;
    assert_eq!(same.user_id, user.user_id);

    assert_error(&create(&app, &user, "acme|1").await, 400, "OAUTH_PROVIDER_ACCOUNT_ID_ALREADY_USED_FOR_SIGN_IN");
    let eve = app.sign_up("eve@example.com").await;
    assert_error(&create(&app, &eve, "acme|1").await, 400, "OAUTH_PROVIDER_ACCOUNT_ID_ALREADY_USED_FOR_SIGN_IN");
    let mut github = new_account(&eve, "1");
    github["provider_config_id"] = "github".into();
    assert_error(&app.server().post(ACCOUNTS, github).await, 400, "OAUTH_PROVIDER_NOT_FOUND_OR_NOT_ENABLED");
    let mut nobody = new_account(&eve, "2");
    nobody["user_id"] = "6a0c5a8e-58a1-4b0e-9a51-000000000001".into();
    assert_error(&app.server().post(ACCOUNTS, nobody).await, 400, "USER_ID_DOES_NOT_EXIST");
    for (field, value) in [("account_id", json!("")), ("account_id", json!("x".repeat(513))), ("allow_sign_in", json!(null))] {
        let mut bad = new_account(&eve, "3");
        bad[field] = value;
        assert_error(&app.server().post(ACCOUNTS, bad).await, 400, "SCHEMA_ERROR");
    }
    assert_error(&app.signed_in(&eve).post(ACCOUNTS, new_account(&eve, "4")).await, 403, "INSUFFICIENT_ACCESS_TYPE");
    assert!(own(&app, &eve).await.is_empty());
}

#[tokio::test]
async fn a_user_cannot_unlink_the_last_sign_in_method() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let path = first(&app, &user).await;
    assert_error(&app.signed_in(&user).delete(&path).await, 409, "LAST_SIGN_IN_METHOD");
    let off = json!({ "allow_sign_in": false });
    assert_error(&app.signed_in(&user).patch(&path, off.clone()).await, 409, "LAST_SIGN_IN_METHOD");
    assert_eq!(sign_in(&app, &provider, ada()).await.0.user_id, user.user_id);

    // The password would be the only remaining way to sign in, but the project does not accept
    // passwords.
    let set = app.signed_in(&user).post("/api/v1/auth/password/set", json!({ "password": "correct horse battery" })).await;
    assert_eq!(set.status(), 200, "{}", set.text());
    app.configure(json!({ "config": { "credential_enabled": false } })).await;
    assert_error(&app.signed_in(&user).delete(&path).await, 409, "LAST_SIGN_IN_METHOD");
    app.configure(json!({ "config": { "credential_enabled": true } })).await;
    assert_eq!(app.signed_in(&user).delete(&path).await.status(), 200);
    assert!(own(&app, &user).await.is_empty());
    assert_eq!(app.sign_in("ada@example.com").await.user_id, user.user_id);
    assert_error(&app.signed_in(&user).delete(&path).await, 404, "PROVIDER_ACCOUNT_NOT_FOUND");
}

#[tokio::test]
async fn a_server_can_remove_the_last_sign_in_method() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let path = first(&app, &user).await.replace("me", &user.user_id);
    assert_eq!(app.server().delete(&path).await.json(), json!({ "success": true }));
    assert!(own(&app, &user).await.is_empty() && opens_own_data(&app, &user).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_methods_unlinked_concurrently_one_stays() {
    for _ in 0..20 {
        let (app, provider) = start().await;
        let (user, _) = sign_in(&app, &provider, ada()).await;
        let github = json!({ "id": "github", "client_id": "x", "client_secret": "y" });
        app.configure(json!({ "config": { "oauth_providers": [provider.setting(), github] } })).await;
        let mut second = new_account(&user, "2");
        second["provider_config_id"] = "github".into();
        assert_eq!(app.server().post(ACCOUNTS, second).await.status(), 201);
        let accounts = own(&app, &user).await;
        let unlink = |account: &Value| {
            let (caller, path) = (app.signed_in(&user), format!("{ACCOUNTS}/me/{}", account["id"].as_str().unwrap()));
            tokio::spawn(async move { caller.delete(&path).await.status() })
        };
        let (one, other) = (unlink(&accounts[0]), unlink(&accounts[1]));
        let mut statuses = [one.await.unwrap(), other.await.unwrap()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 409]);
        assert_eq!(own(&app, &user).await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_additions_of_an_account_one_succeeds() {
    let (app, _provider) = start().await;
    let mut users = Vec::new();
    for number in 0..10 {
        users.push(app.sign_up(&format!("user{number}@example.com")).await);
    }
    let give = users.iter().map(|user| {
        let (caller, body) = (app.server(), new_account(user, "acme|1"));
        tokio::spawn(async move { caller.post(ACCOUNTS, body).await.status() })
    });
    let mut created = 0;
    for answer in give.collect::<Vec<_>>() {
        created += usize::from(answer.await.unwrap() == 201);
    }
    let mut owners = 0;
    for user in &users {
        owners += own(&app, user).await.len();
    }
    assert_eq!((created, owners, items(&app, "O#", "CLAIM")), (1, 1, 1));
}

#[tokio::test]
async fn an_account_not_used_for_sign_in_still_issues_tokens_and_takes_scopes() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let set = app.signed_in(&user).post("/api/v1/auth/password/set", json!({ "password": "correct horse battery" })).await;
    assert_eq!(set.status(), 200);
    let path = first(&app, &user).await;
    let off = app.signed_in(&user).patch(&path, json!({ "allow_sign_in": false })).await;
    assert_eq!((off.status(), &off.json()["allow_sign_in"]), (200, &false.into()));
    let refused = flow(&app, &provider, ada(), &[]).await;
    assert_eq!(error_of(&refused), "OAUTH_CONNECTION_ALREADY_CONNECTED_TO_ANOTHER_USER");
    let token = format!("{CONNECTED}/me/acme/access-token");
    assert_eq!(app.signed_in(&user).post(&token, json!({ "scope": "email" })).await.status(), 201);
    let more = [("type", "link"), ("token", user.access_token.as_str()), ("provider_scope", "calendar")];
    let linked = flow(&app, &provider, ada(), &more).await;
    assert_eq!(exchange(&app, &parameter(&linked, "code")).await.status(), 200);
    assert_eq!(app.signed_in(&user).post(&token, json!({ "scope": "calendar" })).await.status(), 201);

    assert_eq!(app.signed_in(&user).patch(&path, json!({ "allow_sign_in": true })).await.status(), 200);
    assert_eq!(sign_in(&app, &provider, ada()).await.0.user_id, user.user_id);
}

#[tokio::test]
async fn an_account_without_tokens_still_signs_in() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let off = app.signed_in(&user).patch(&first(&app, &user).await, json!({ "allow_connected_accounts": false })).await;
    assert_eq!((off.status(), &off.json()["allow_connected_accounts"]), (200, &false.into()));
    assert_eq!(app.signed_in(&user).get(&format!("{CONNECTED}/me")).await.json()["items"], json!([]));
    let token = app.signed_in(&user).post(&format!("{CONNECTED}/me/acme/access-token"), json!({})).await;
    assert_error(&token, 400, "OAUTH_CONNECTION_NOT_CONNECTED_TO_USER");
    assert_eq!(sign_in(&app, &provider, ada()).await.0.user_id, user.user_id);
}

#[tokio::test]
async fn a_server_can_replace_a_user_s_provider_account() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let path = first(&app, &user).await;
    for own_word in [json!({ "account_id": "acme|2" }), json!({ "email": "eve@example.com" })] {
        assert_error(&app.signed_in(&user).patch(&path, own_word).await, 400, "SCHEMA_ERROR");
    }
    let path = path.replace("me", &user.user_id);
    let moved = app.server().patch(&path, json!({ "account_id": "acme|2", "email": "ada@new.example" })).await;
    assert_eq!(moved.status(), 200, "{}", moved.text());
    assert_eq!((&moved.json()["account_id"], &moved.json()["email"]), (&"acme|2".into(), &"ada@new.example".into()));
    // The stored tokens belonged to the former account.
    let token = app.server().post(&format!("{CONNECTED}/{}/acme/access-token", user.user_id), json!({})).await;
    assert_error(&token, 400, "OAUTH_CONNECTION_DOES_NOT_HAVE_REQUIRED_SCOPE");
    let other = json!({ "sub": "acme|2", "email": "ada@new.example", "email_verified": true });
    assert_eq!(sign_in(&app, &provider, other).await.0.user_id, user.user_id);
    // Another user may link the former account.
    let eve = app.sign_up("eve@example.com").await;
    assert_eq!(create(&app, &eve, "acme|1").await.status(), 201);
    assert_error(
        &app.server().patch(&path, json!({ "account_id": "acme|1" })).await,
        400,
        "OAUTH_PROVIDER_ACCOUNT_ID_ALREADY_USED_FOR_SIGN_IN",
    );
}

#[tokio::test]
async fn a_user_has_at_most_twenty_accounts() {
    let (app, _provider) = start().await;
    let user = app.sign_up("ada@example.com").await;
    let add = async |number: u8| {
        let mut account = new_account(&user, &format!("acme|{number}"));
        account["allow_sign_in"] = false.into();
        app.server().post(ACCOUNTS, account).await
    };
    for number in 0..20 {
        assert_eq!(add(number).await.status(), 201);
    }
    let details = assert_error(&add(20).await, 400, "TOO_MANY_PROVIDER_ACCOUNTS");
    assert_eq!(details["max"], 20);
    assert_eq!(items(&app, "O#", "CLAIM"), 20);
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", user.user_id)).await.status(), 200);
    assert_eq!(items(&app, "O#", "CLAIM"), 0);
}

#[tokio::test]
async fn an_account_s_tokens_are_deleted_with_it_or_its_user() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    assert_eq!(items(&app, "U#", "PROVIDER#"), 1);
    let path = first(&app, &user).await.replace("me", &user.user_id);
    assert_eq!(app.server().delete(&path).await.status(), 200);
    assert_eq!(items(&app, "U#", "PROVIDER#"), 0);

    let (user, _) = sign_in(&app, &provider, ada()).await;
    assert_eq!(items(&app, "U#", "PROVIDER#"), 1);
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", user.user_id)).await.status(), 200);
    assert_eq!((items(&app, "U#", "PROVIDER#"), items(&app, "O#", "CLAIM")), (0, 0));
}
