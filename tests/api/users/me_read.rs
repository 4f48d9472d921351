//! `GET /api/v1/users/me`.

use aws_sdk_dynamodb::operation::delete_item::DeleteItemInput;
use model::user::User;
use model::user::restriction::Restriction;
use serde_json::{Value, json};
use store::{keys, user};
use support::{START, SignedInUser, TestApp};
use wire::id::UserId;

const PATH: &str = "/api/v1/users/me";

/// Changes a stored user directly, without a request.
async fn change(app: &TestApp, user: &SignedInUser, change: impl FnOnce(&mut User)) {
    let row = app.app.store.user(app.project_id(), UserId::parse(&user.user_id).unwrap()).await.unwrap().unwrap();
    let mut user = row.user;
    change(&mut user);
    app.app.store.write(user::replace(app.project_id(), &user, row.version).unwrap()).await.unwrap();
}

fn client_user(ada: &SignedInUser) -> Value {
    json!({
        "id": ada.user_id, "primary_email": "ada@example.com", "primary_email_verified": false, "display_name": null,
        "selected_team": null, "selected_team_id": null, "profile_image_url": null,
        "signed_up_at_millis": START.parse::<jiff::Timestamp>().unwrap().as_millisecond(), "has_password": true,
        "otp_auth_enabled": false, "passkey_auth_enabled": false, "auth_with_email": true, "requires_totp_mfa": false,
        "client_metadata": null, "client_read_only_metadata": null, "is_anonymous": false, "is_restricted": false,
        "restricted_reason": null, "restricted_by_admin": false, "restricted_by_admin_reason": null, "oauth_providers": [],
    })
}

#[tokio::test]
async fn a_client_reads_its_user_and_a_server_more_fields() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut expected = client_user(&ada);
    let answer = app.signed_in(&ada).get(PATH).await;
    assert_eq!((answer.status(), answer.json()), (200, expected.clone()));

    let more = json!({
        "primary_email_auth_enabled": true, "server_metadata": null, "last_active_at_millis": expected["signed_up_at_millis"],
        "restricted_by_admin_private_details": null, "country_code": null,
        "risk_scores": { "sign_up": { "bot": 0, "free_trial_abuse": 0 } },
    });
    expected.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    for caller in [app.server(), app.admin()] {
        let answer = caller.with("x-stack-access-token", &ada.access_token).get(PATH).await;
        assert_eq!((answer.status(), answer.json()), (200, expected.clone()));
    }
}

#[tokio::test]
async fn reading_requires_a_user() {
    let app = TestApp::start().await;
    for caller in [app.client(), app.server(), app.admin()] {
        let answer = caller.get(PATH).await;
        assert_eq!((answer.status(), answer.code().as_str()), (400, "CANNOT_GET_OWN_USER_WITHOUT_USER"));
        assert_eq!(answer.header("x-stack-known-error"), Some("CANNOT_GET_OWN_USER_WITHOUT_USER"));
    }
    assert_eq!(app.anonymous().get(PATH).await.code(), "ACCESS_TYPE_REQUIRED");
}

#[tokio::test]
async fn a_token_of_a_deleted_user_has_expired() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let key = keys::user_key(app.project_id(), UserId::parse(&ada.user_id).unwrap());
    let store = &app.app.store;
    let delete = DeleteItemInput::builder().table_name(store.table());
    let attribute = aws_sdk_dynamodb::types::AttributeValue::S;
    store.client().call(delete.key("pk", attribute(key.pk)).key("sk", attribute(key.sk))).await.unwrap();
    assert_eq!(app.signed_in(&ada).get(PATH).await.code(), "ACCESS_TOKEN_EXPIRED");
}

#[tokio::test]
async fn a_token_is_only_valid_for_its_project_and_lifetime() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let other = app.another_project().await;
    let answer = app.client_of(&other).with("x-stack-access-token", &ada.access_token).get(PATH).await;
    assert_eq!((answer.status(), answer.code().as_str()), (401, "INVALID_PROJECT_FOR_ACCESS_TOKEN"));
    let answer = app.client().with("x-stack-access-token", "nonsense").get(PATH).await;
    assert_eq!((answer.status(), answer.code().as_str()), (401, "UNPARSABLE_ACCESS_TOKEN"));
    app.advance(jiff::SignedDuration::from_secs(600));
    let answer = app.signed_in(&ada).get(PATH).await;
    assert_eq!((answer.status(), answer.code().as_str()), (401, "ACCESS_TOKEN_EXPIRED"));
    assert!(answer.header("www-authenticate").is_some());
}

#[tokio::test]
async fn a_user_is_restricted_if_a_required_verification_is_missing() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let ada = app.sign_up("ada@example.com").await;
    let answer = app.signed_in(&ada).get(PATH).await;
    assert_eq!((answer.status(), answer.code().as_str()), (403, "RESTRICTED_USER_NOT_ALLOWED"));
    assert_eq!(answer.json()["details"], json!({ "restricted_reason": { "type": "email_not_verified" } }));

    for header in ["x-stack-allow-restricted-user", "x-stack-allow-anonymous-user"] {
        let me = app.signed_in(&ada).with(header, "true").get(PATH).await.json();
        assert_eq!((&me["is_restricted"], &me["restricted_reason"]), (&json!(true), &json!({ "type": "email_not_verified" })));
    }
    let half = app.signed_in(&ada).with("x-stack-allow-restricted-user", "yes").get(PATH).await;
    assert_eq!(half.code(), "RESTRICTED_USER_NOT_ALLOWED");
}

#[tokio::test]
async fn a_restricted_user_sees_the_reason_but_not_the_private_details() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let restriction = Restriction { reason: Some("spam".to_owned()), private_details: Some("ticket 7".to_owned()) };
    change(&app, &ada, |user| user.restriction = Some(restriction)).await;

    assert_eq!(app.signed_in(&ada).get(PATH).await.code(), "RESTRICTED_USER_NOT_ALLOWED");
    let allowing = |caller: support::Caller| caller.with("x-stack-allow-restricted-user", "true");
    let answer = allowing(app.signed_in(&ada)).get(PATH).await;
    let me = answer.json();
    assert_eq!((&me["restricted_by_admin"], &me["restricted_by_admin_reason"]), (&json!(true), &json!("spam")));
    assert_eq!(me["restricted_reason"], json!({ "type": "restricted_by_administrator" }));
    assert!(!answer.text().contains("ticket 7"));
    let server = allowing(app.server().with("x-stack-access-token", &ada.access_token)).get(PATH).await.json();
    assert_eq!(server["restricted_by_admin_private_details"], "ticket 7");
}

#[tokio::test]
async fn server_fields_are_hidden_from_clients() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    change(&app, &ada, |user| user.country_code = Some("DE".to_owned())).await;
    let client = app.signed_in(&ada).get(PATH).await.json();
    for field in ["server_metadata", "country_code", "risk_scores", "last_active_at_millis", "restricted_by_admin_private_details"] {
        assert!(client.get(field).is_none(), "{field}");
    }
    assert_eq!(app.server().with("x-stack-access-token", &ada.access_token).get(PATH).await.json()["country_code"], "DE");
}

#[tokio::test]
async fn an_unknown_query_parameter_is_rejected() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let answer = app.signed_in(&ada).get(&format!("{PATH}?include=all")).await;
    assert_eq!((answer.status(), answer.code().as_str()), (400, "SCHEMA_ERROR"));
    assert!(answer.text().contains("query.include"));
}
