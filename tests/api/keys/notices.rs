//! Notices to users about new API keys, and the effect of "This wasn't me" on these keys.

use jiff::SignedDuration;
use serde_json::json;

use super::{ADA, USER_KEYS, checked, error, started, text, user_key};

#[tokio::test]
async fn a_new_key_is_announced_and_undone_by_the_link_of_the_email() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    let old = user_key(&app, &ada).await;
    app.advance(SignedDuration::from_hours(2));
    let ada = app.sign_in(ADA).await;
    let new = user_key(&app, &ada).await;
    let announced = format!("An API key ending in {} was created.", &text(&new["value"])[130..]);
    let mail = app.mails(ADA).await.into_iter().find(|mail| mail.0.text.contains(&announced)).unwrap();
    assert!(!mail.0.text.contains(&text(&new["value"])));

    let page = app.anonymous().request("POST", mail.link().trim_start_matches(&*app.app.settings.api_url)).send().await;
    assert_eq!(page.status(), 200, "{}", page.text());
    assert_eq!(checked(&app, USER_KEYS, &new["value"]).await, error(404, "API_KEY_NOT_FOUND"));
    assert_eq!(checked(&app, USER_KEYS, &old["value"]).await.0, 200, "keys from before the change stay");
}

#[tokio::test]
async fn a_project_can_switch_the_notices_off() {
    let app = started().await;
    app.configure(json!({ "config": { "disabled_notices": ["api-key"] } })).await;
    let ada = app.sign_up(ADA).await;
    user_key(&app, &ada).await;
    app.send_emails().await;
    assert!(app.mails(ADA).await.iter().all(|mail| !mail.0.text.contains("API key")));
}

#[tokio::test]
async fn a_new_owner_of_the_account_inherits_no_keys() {
    let app = started().await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let squatter = app.sign_up(ADA).await;
    let key = user_key(&app, &squatter).await;
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await.0, 200);
    let owner = app.sign_in_by_mail(ADA).await;
    assert_eq!(owner.user_id, squatter.user_id);
    assert_eq!(checked(&app, USER_KEYS, &key["value"]).await, error(404, "API_KEY_NOT_FOUND"));
    assert_eq!(app.signed_in(&owner).get(&format!("{USER_KEYS}?user_id=me")).await.json()["items"], json!([]));
}

#[tokio::test]
async fn the_activity_of_a_user_lists_the_creation_of_keys() {
    let app = started().await;
    let ada = app.sign_up(ADA).await;
    user_key(&app, &ada).await;
    let activity = app.signed_in(&ada).get("/api/v1/users/me/activity").await;
    assert!(activity.text().contains("api-key-created"), "{}", activity.text());
}
