//! Passwords and hashes that a server sets with POST and PATCH of users.

use serde_json::{Value, json};
use support::TestApp;

use super::{USERS, assert_error, create, fields, id_of, path, refresh, sign_in, update};

/// A bcrypt hash of the password with this version prefix, such as `$2y$`.
fn bcrypt_of(password: &str, version: &str) -> String {
    let hash = bcrypt::hash(password, 4).unwrap();
    hash.replacen("$2b$", version, 1)
}

/// The password hash of a user in the table.
async fn stored_hash(app: &TestApp, user: &Value) -> Value {
    let id = wire::id::UserId::parse(&id_of(user)).unwrap();
    let user = app.app.store.user(app.project_id(), id).await.unwrap().unwrap().user;
    serde_json::to_value(user.password).unwrap()
}

#[tokio::test]
async fn an_imported_hash_signs_in_and_is_rehashed_with_argon2() {
    let app = TestApp::start().await;
    for (index, version) in ["$2a$", "$2b$", "$2y$"].into_iter().enumerate() {
        let (email, hash) = (format!("user{index}@example.com"), bcrypt_of("correct horse", version));
        let user = json!({ "primary_email": email, "primary_email_auth_enabled": true, "password_hash": hash });
        let user = create(&app, user).await;
        assert_eq!(user["has_password"], true);
        assert_eq!(stored_hash(&app, &user).await, hash.as_str());
        assert_error(&sign_in(&app, &email, "wrong horse").await, 400, "EMAIL_PASSWORD_MISMATCH");
        assert_eq!(stored_hash(&app, &user).await, hash.as_str(), "a wrong password replaces nothing");
        assert_eq!(sign_in(&app, &email, "correct horse").await.json()["user_id"], user["id"]);
        assert!(stored_hash(&app, &user).await.as_str().unwrap().starts_with("$argon2id$"));
        assert_eq!(sign_in(&app, &email, "correct horse").await.status(), 200);
        assert_error(&sign_in(&app, &email, "wrong horse").await, 400, "EMAIL_PASSWORD_MISMATCH");
    }
}

#[tokio::test]
async fn a_rehash_that_loses_a_race_still_forgets_wrong_passwords() {
    let app = TestApp::start().await;
    let user = json!({ "primary_email": "ada@example.com", "primary_email_auth_enabled": true, "password_hash": bcrypt_of("correct horse", "$2b$") });
    let user = create(&app, user).await;
    assert_error(&sign_in(&app, "ada@example.com", "wrong horse").await, 400, "EMAIL_PASSWORD_MISMATCH");
    // The write with the number 0 is the sign-up's transaction.
    app.recorder.fail_write(1, "ConditionalCheckFailedException");
    assert_eq!(sign_in(&app, "ada@example.com", "correct horse").await.status(), 200);
    assert!(app.recorder.is_done());
    assert!(stored_hash(&app, &user).await.as_str().unwrap().starts_with("$2b$"), "the rehash failed");
    let id = wire::id::UserId::parse(&id_of(&user)).unwrap();
    let user = app.app.store.user(app.project_id(), id).await.unwrap().unwrap().user;
    assert_eq!(user.wrong_passwords, 0);
}

#[tokio::test]
async fn only_bcrypt_hashes_of_acceptable_cost_are_imported() {
    let app = TestApp::start().await;
    let good = bcrypt_of("correct horse", "$2b$");
    let wrong = [
        String::new(),
        "correct horse".to_owned(),
        good.replacen("$04$", "$13$", 1),
        good.replacen("$04$", "$03$", 1),
        good.replacen("$2b$", "$2x$", 1),
        good.replacen("$2b$", "$1$", 1),
        good[..59].to_owned(),
        format!("{good}a"),
        format!("{}!", &good[..59]),
        "$argon2id$v=19$m=64,t=1,p=1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA".to_owned(),
    ];
    for hash in wrong {
        let answer = app.server().post(USERS, json!({ "password_hash": hash })).await;
        assert_eq!(fields(&answer), ["body.password_hash"], "{hash}");
    }
    create(&app, json!({ "password_hash": good.replacen("$04$", "$12$", 1) })).await;
}

#[tokio::test]
async fn a_password_set_by_a_server_must_meet_the_user_rules() {
    let app = TestApp::start().await;
    let ada = create(&app, json!({ "primary_email": "ada@example.com" })).await;
    let send = async |password: String| app.server().patch(&path(id_of(&ada)), json!({ "password": password })).await;
    assert_eq!(assert_error(&send("1234567".to_owned()).await, 400, "PASSWORD_TOO_SHORT")["min_length"], 8);
    assert_eq!(assert_error(&send("x".repeat(129)).await, 400, "PASSWORD_TOO_LONG")["maxLength"], 128);
    assert_error(&send("password".to_owned()).await, 400, "PASSWORD_REQUIREMENTS_NOT_MET");
    assert_eq!(super::read(&app, &id_of(&ada)).await["has_password"], false);
}

/// A server imports the users of another service, who continue to sign in with their passwords.
#[tokio::test]
async fn the_password_of_a_new_user_may_be_one_that_the_user_could_not_choose() {
    let app = TestApp::start().await;
    for (number, password) in ["password", "12345", "x", "ada", "aaaaaaaa"].into_iter().enumerate() {
        let email = format!("ada{number}@example.com");
        let user = create(&app, json!({ "primary_email": email, "primary_email_auth_enabled": true, "password": password })).await;
        assert_eq!(sign_in(&app, &email, password).await.json()["user_id"], user["id"], "{password}");
    }
    let send = async |password: String| app.server().post(USERS, json!({ "password": password })).await;
    assert_eq!(assert_error(&send(String::new()).await, 400, "PASSWORD_TOO_SHORT")["min_length"], 1);
    assert_eq!(assert_error(&send("x".repeat(129)).await, 400, "PASSWORD_TOO_LONG")["maxLength"], 128);
}

#[tokio::test]
async fn a_password_change_by_a_server_ends_all_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for (body, works) in [
        (json!({ "password": "another password" }), Some("another password")),
        (json!({ "password_hash": bcrypt_of("imported password", "$2y$") }), Some("imported password")),
        (json!({ "password": null }), None),
    ] {
        let session = app.server().post("/api/v1/auth/sessions", json!({ "user_id": ada.user_id })).await.json();
        let refresh_token = session["refresh_token"].as_str().unwrap();
        let session = support::SignedInUser { refresh_token: refresh_token.to_owned(), ..ada.clone() };
        assert_eq!(refresh(&app, &session).await.status(), 200);
        let user = update(&app, &ada.user_id, body.clone()).await;
        assert_eq!(user["has_password"], works.is_some(), "{body}");
        assert_error(&refresh(&app, &session).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
        assert_error(&refresh(&app, &ada).await, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
        assert_error(&sign_in(&app, "ada@example.com", "correct horse battery").await, 400, "EMAIL_PASSWORD_MISMATCH");
        if let Some(password) = works {
            assert_eq!(sign_in(&app, "ada@example.com", password).await.status(), 200);
        }
    }
    for password in ["another password", "imported password"] {
        assert_error(&sign_in(&app, "ada@example.com", password).await, 400, "EMAIL_PASSWORD_MISMATCH");
    }
}

#[tokio::test]
async fn other_changes_end_no_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    update(&app, &ada.user_id, json!({ "display_name": "Ada", "restricted_by_admin": true })).await;
    assert_eq!(refresh(&app, &ada).await.status(), 200);
}
