//! An intruder must not keep access to a team: a team's key that was created by a client stops
//! working once the creator's account changes hands or the creator reports an intruder.

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{SignedInUser, TestApp};

use super::{ADA, TEAM_KEYS, checked, error, started, team_key, text, user_key};
use crate::auth::account_notices::{link, notices, press};
use crate::stored::delete_user;

fn void() -> (u16, String) {
    error(401, "API_KEY_REVOKED")
}

/// The creators of all team keys, as they are stored.
fn creators(app: &TestApp) -> Vec<Value> {
    let teams = app.table().into_values().filter(|item| item["sk"]["S"] == "TEAM");
    let keys = teams.flat_map(|item| item["d"]["M"]["api_keys"]["L"].as_array().cloned().unwrap_or_default());
    keys.map(|key| key["M"]["creator"]["M"]["user_id"]["S"].clone()).collect()
}

async fn create(app: &TestApp, user: &SignedInUser, team: &str) -> Value {
    let answer = app.signed_in(user).post(TEAM_KEYS, json!({ "team_id": team, "description": "Deployments" })).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

/// Makes the user a member who may manage the team's keys, and returns the path of the membership.
async fn admit(app: &TestApp, team: &str, user: &SignedInUser) -> String {
    let membership = format!("/api/v1/team-memberships/{team}/{}", user.user_id);
    assert_eq!(app.server().post(&membership, json!({})).await.status(), 201);
    let permission = format!("/api/v1/team-permissions/{team}/{}/$manage_api_keys", user.user_id);
    assert_eq!(app.server().post(&permission, json!({})).await.status(), 201);
    membership
}

async fn rotate(caller: &support::Caller, team: &str, key: &Value) -> Value {
    let answer = caller.post(&format!("{TEAM_KEYS}/{}/rotate?team_id={team}", text(&key["id"])), json!({})).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()
}

#[tokio::test]
async fn the_creator_is_told_and_ends_the_key_by_the_link_of_the_email() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let (team, key) = team_key(&app, &ada).await;
    app.send_emails().await;
    let announced = format!("An API key ending in {} was created.", &text(&key["value"])[130..]);
    let mail = notices(&app, ADA).await.into_iter().find(|mail| mail.0.text.contains(&announced)).unwrap();
    let rotated = rotate(&app.signed_in(&ada), &team, &key).await;
    let by_server = app.server().post(TEAM_KEYS, json!({ "team_id": team, "description": "CI" })).await.json();
    assert_eq!(creators(&app), [json!(ada.user_id), json!(ada.user_id), Value::Null]);
    for key in [&key, &rotated, &by_server] {
        assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
    }

    press(&app, &link(&mail)).await;
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await, void());
    assert_eq!(checked(&app, TEAM_KEYS, &rotated["value"]).await, void());
    assert_eq!(checked(&app, TEAM_KEYS, &by_server["value"]).await.0, 200, "a server created this key");
    // A server may replace the key. The new key does not count as created by the client.
    let replaced = rotate(&app.server(), &team, &key).await;
    assert_eq!(checked(&app, TEAM_KEYS, &replaced["value"]).await.0, 200);
}

#[tokio::test]
async fn a_new_owner_of_the_creators_account_ends_the_key() {
    let app = started().await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let squatter = app.sign_up(ADA).await;
    let (team, key) = team_key(&app, &squatter).await;
    let owner = app.sign_in_by_mail(ADA).await;
    assert_eq!(owner.user_id, squatter.user_id);
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await, void());
    // The owner is not a member of the squatter's teams. After a server adds the owner to a team, a
    // new key works in the team, but the old key does not.
    admit(&app, &team, &owner).await;
    let new = create(&app, &owner, &team).await;
    assert_eq!(checked(&app, TEAM_KEYS, &new["value"]).await.0, 200);
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await, void());
}

/// `docs/api/api-keys.md` says that a key outlives sessions, passwords and memberships.
#[tokio::test]
async fn a_key_outlives_the_membership_and_the_account_of_its_creator() {
    let app = started().await;
    let (ada, bob) = (app.sign_up(ADA).await, app.sign_up("bob@example.com").await);
    let (team, _) = team_key(&app, &ada).await;
    let membership = admit(&app, &team, &bob).await;
    let key = create(&app, &bob, &team).await;
    let password = json!({ "password": "another horse battery" });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", bob.user_id), password).await.status(), 200);
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
    assert_eq!(app.server().delete(&membership).await.status(), 200);
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
    delete_user(&app, &bob).await;
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
}

/// Turns the only key of the only team into a key of an earlier version, which did not store the
/// creator.
async fn age(app: &TestApp) {
    let (pk, sk) = app.table().into_iter().find(|(_, item)| item["sk"]["S"] == "TEAM").unwrap().0;
    let update = UpdateItemInput::builder().table_name(app.app.store.table());
    let update = update.key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S(sk));
    app.app.store.client().call(update.update_expression("REMOVE d.api_keys[0].creator")).await.unwrap();
    assert_eq!(creators(app), [Value::Null]);
}

#[tokio::test]
async fn a_key_of_an_earlier_version_works_without_a_creator() {
    let app = started().await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let squatter = app.sign_up(ADA).await;
    let (_, key) = team_key(&app, &squatter).await;
    age(&app).await;
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
    app.sign_in_by_mail(ADA).await;
    assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
}

#[tokio::test]
async fn the_record_of_a_use_keeps_the_creator() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let (_, key) = team_key(&app, &ada).await;
    let before = creators(&app);
    for _ in 0..2 {
        assert_eq!(checked(&app, TEAM_KEYS, &key["value"]).await.0, 200);
        app.advance(SignedDuration::from_hours(2));
    }
    assert_eq!(creators(&app), before);
}

#[tokio::test]
async fn a_project_can_switch_off_the_notices_about_keys_of_teams() {
    let app = started().await;
    app.configure(json!({ "config": { "disabled_notices": ["api-key"] } })).await;
    let ada = app.sign_up(ADA).await;
    team_key(&app, &ada).await;
    app.send_emails().await;
    assert!(app.mails(ADA).await.iter().all(|mail| !mail.0.text.contains("API key")));
}

/// The notices of an account are counted in the account's item, so two new keys change this item at
/// the same time.
#[tokio::test(flavor = "multi_thread")]
async fn keys_for_a_team_and_a_user_can_be_created_at_the_same_time() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let (team, _) = team_key(&app, &ada).await;
    let (of_team, of_user) = tokio::join!(create(&app, &ada, &team), user_key(&app, &ada));
    assert_eq!(checked(&app, TEAM_KEYS, &of_team["value"]).await.0, 200);
    assert_eq!(checked(&app, super::USER_KEYS, &of_user["value"]).await.0, 200);
}
