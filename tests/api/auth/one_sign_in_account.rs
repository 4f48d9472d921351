//! A user can sign in with only one account of a provider, unless the user has linked several
//! accounts.

use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

use super::assert_error;
use super::oauth_callback::{ada, exchange, flow, parameter, sign_in, start};

const ACCOUNTS: &str = "/api/v1/oauth-providers";
const SECOND: &str = "ANOTHER_PROVIDER_ACCOUNT_SIGNS_IN";

fn account(user: &SignedInUser, account_id: &str, allow_sign_in: bool) -> Value {
    json!({
        "user_id": user.user_id, "provider_config_id": "acme", "account_id": account_id, "allow_sign_in": allow_sign_in,
        "allow_connected_accounts": true,
    })
}

async fn create(app: &TestApp, account: Value) -> Answer {
    app.server().post(ACCOUNTS, account).await
}

async fn signing_in(app: &TestApp, user: &SignedInUser) -> usize {
    let listed = app.server().get(&format!("{ACCOUNTS}?user_id={}", user.user_id)).await.json();
    listed["items"].as_array().unwrap().iter().filter(|item| item["allow_sign_in"] == true).count()
}

#[tokio::test]
async fn a_second_sign_in_account_of_a_provider_is_refused() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    assert_error(&create(&app, account(&user, "acme|2", true)).await, 400, SECOND);
    let second = create(&app, account(&user, "acme|2", false)).await;
    assert_eq!(second.status(), 201, "{}", second.text());
    let path = format!("{ACCOUNTS}/{}/{}", user.user_id, second.json()["id"].as_str().unwrap());
    assert_error(&app.server().patch(&path, json!({ "allow_sign_in": true })).await, 400, SECOND);
    assert_error(&app.signed_in(&user).patch(&path.replace(&user.user_id, "me"), json!({ "allow_sign_in": true })).await, 400, SECOND);
    assert_eq!(signing_in(&app, &user).await, 1);

    let first = app.server().get(&format!("{ACCOUNTS}?user_id={}", user.user_id)).await.json()["items"][0]["id"].clone();
    let first = format!("{ACCOUNTS}/{}/{}", user.user_id, first.as_str().unwrap());
    assert_eq!(app.server().patch(&first, json!({ "allow_sign_in": false })).await.status(), 200);
    assert_eq!(app.server().patch(&path, json!({ "allow_sign_in": true })).await.status(), 200);
    let eve = app.sign_up("eve@example.com").await;
    assert_eq!(create(&app, account(&eve, "acme|3", true)).await.status(), 201, "another user may sign in with the provider");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_sign_in_accounts_of_a_provider_one_is_added() {
    let (app, _provider) = start().await;
    let user = app.sign_up("ada@example.com").await;
    let add = (0..10).map(|number| create(&app, account(&user, &format!("acme|{number}"), true)));
    let answers = futures_util::future::join_all(add).await;
    assert_eq!(answers.iter().filter(|answer| answer.status() == 201).count(), 1);
    assert_eq!(signing_in(&app, &user).await, 1);
}

/// A user who links another account has signed in to it at the provider. The user can then sign in
/// with both accounts, and can still change both of them.
#[tokio::test]
async fn accounts_that_the_user_has_linked_stay_usable() {
    let (app, provider) = start().await;
    let (user, _) = sign_in(&app, &provider, ada()).await;
    let second = json!({ "sub": "acme|2" });
    let linked = flow(&app, &provider, second.clone(), &[("type", "link"), ("token", &user.access_token)]).await;
    assert_eq!(exchange(&app, &parameter(&linked, "code")).await.status(), 200);
    assert_eq!(signing_in(&app, &user).await, 2);
    for account in [ada(), second] {
        assert_eq!(sign_in(&app, &provider, account).await.0.user_id, user.user_id);
    }
    let listed = app.server().get(&format!("{ACCOUNTS}?user_id={}", user.user_id)).await.json();
    let path = format!("{ACCOUNTS}/{}/{}", user.user_id, listed["items"][1]["id"].as_str().unwrap());
    let same = json!({ "allow_sign_in": true, "allow_connected_accounts": false });
    assert_eq!(app.server().patch(&path, same).await.status(), 200);
    assert_error(&create(&app, account(&user, "acme|3", true)).await, 400, SECOND);
}
