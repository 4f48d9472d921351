//! The link "This wasn't me". Someone created an account with another person's address, and the
//! recipient of the verification email removes the address from the account.

use jiff::SignedDuration;
use serde_json::json;
use support::{SignedInUser, TestApp};

use super::{CALLBACK, PASSWORD, added, addresses, password_sign_in, reset, reset_code, verification_code, verify};
use crate::auth::account_notices::{self, notices, verified};
use crate::auth::assert_error;

/// Someone signs up with `ada@example.com`. Returns the account and the path of the link in the
/// verification email.
async fn squatted(app: &TestApp) -> (SignedInUser, String) {
    let body = json!({ "email": "ada@example.com", "password": PASSWORD, "verification_callback_url": CALLBACK });
    let answer = app.client().post("/api/v1/auth/password/sign-up", body).await;
    let eve = SignedInUser::of("ada@example.com", &answer.json());
    (eve, link(app, "ada@example.com").await)
}

async fn link(app: &TestApp, address: &str) -> String {
    let mail = app.last_mail(address).await;
    let link = mail.0.text.split_whitespace().find(|word| word.contains("/release-link?")).unwrap().to_owned();
    assert!(mail.0.html.contains("This wasn"), "{}", mail.0.html);
    link.strip_prefix(support::API_URL).unwrap().to_owned()
}

#[tokio::test]
async fn the_page_changes_nothing_and_its_button_releases_the_address() {
    let app = TestApp::start().await;
    let (eve, link) = squatted(&app).await;
    let table = app.table();
    for _ in 0..2 {
        let page = app.anonymous().get(&link).await;
        assert_eq!((page.status(), page.header("content-type")), (200, Some("text/html; charset=utf-8")));
        assert!(page.text().contains("ada@example.com") && page.text().contains("<form method=\"post\">"), "{}", page.text());
    }
    assert_eq!(app.table(), table);

    let done = app.anonymous().request("POST", &link).send().await;
    assert_eq!(done.status(), 200);
    assert!(done.text().contains("Your address is free again"), "{}", done.text());
    assert_eq!(addresses(&app, &eve.user_id).await, []);
    assert_error(&password_sign_in(&app, "ada@example.com", PASSWORD).await, 400, "EMAIL_PASSWORD_MISMATCH");
    let ada = app.sign_up("ada@example.com").await;
    assert_ne!(ada.user_id, eve.user_id);

    for method in ["GET", "POST"] {
        let again = app.anonymous().request(method, &link).send().await;
        assert!(again.status() == 200 && again.text().contains("already been used"), "{}", again.text());
    }
    assert_eq!(app.sign_in("ada@example.com").await.user_id, ada.user_id, "a second use changes nothing");
}

#[tokio::test]
async fn the_account_is_notified_when_an_address_is_released() {
    let app = TestApp::start().await;
    let ada = verified(&app, "ada@example.com").await;
    let channel = added(&app, &ada, "shared@example.com").await;
    let code = verification_code(&app, &ada, &channel, "shared@example.com").await;
    let link = link(&app, "shared@example.com").await;
    assert_eq!(verify(&app, &code).await.status(), 200);
    let before = notices(&app, "ada@example.com").await.len();
    app.advance(SignedDuration::from_secs(1));
    assert!(app.anonymous().request("POST", &link).send().await.text().contains("free again"));
    let told = notices(&app, "ada@example.com").await;
    assert_eq!(told.len(), before + 1);
    let text = &told.last().unwrap().0.text;
    assert!(text.contains("shared@example.com can no longer be used to sign in") && !text.contains("Address "), "{text}");
}

#[tokio::test]
async fn the_account_cannot_take_a_released_address_back_with_its_own_link() {
    let app = TestApp::start().await;
    let eve = verified(&app, "eve@example.com").await;
    let channel = added(&app, &eve, "ada@example.com").await;
    let code = verification_code(&app, &eve, &channel, "ada@example.com").await;
    let release = link(&app, "ada@example.com").await;
    assert_eq!(verify(&app, &code).await.status(), 200);
    app.advance(SignedDuration::from_secs(1));
    assert!(app.anonymous().request("POST", &release).send().await.text().contains("free again"));
    let told = notices(&app, "eve@example.com").await;
    let undo = account_notices::link(told.last().unwrap());
    assert_eq!(account_notices::press(&app, &undo).await.status(), 200);
    assert_eq!(addresses(&app, &eve.user_id).await, [("eve@example.com".to_owned(), true)]);
    let ada = app.sign_up("ada@example.com").await;
    assert_ne!(ada.user_id, eve.user_id);
}

#[tokio::test]
async fn neither_verification_nor_a_new_password_disables_the_link() {
    let app = TestApp::start().await;
    let (eve, link) = squatted(&app).await;
    assert_eq!(verify(&app, &app.last_mail("ada@example.com").await.code()).await.status(), 200);
    let body = json!({ "old_password": PASSWORD, "new_password": "the attacker's battery" });
    assert_eq!(app.signed_in(&eve).post("/api/v1/auth/password/update", body).await.status(), 200);
    assert!(app.anonymous().request("POST", &link).send().await.text().contains("free again"));
    assert_eq!(addresses(&app, &eve.user_id).await, []);
}

#[tokio::test]
async fn the_link_does_not_work_on_the_recipient_s_own_account() {
    let app = TestApp::start().await;
    let (eve, link) = squatted(&app).await;
    assert_eq!(reset(&app, &reset_code(&app, "ada@example.com").await).await.status(), 200);
    let answer = app.anonymous().request("POST", &link).send().await;
    assert!(answer.status() == 200 && answer.text().contains("nothing to remove"), "{}", answer.text());
    assert_eq!(addresses(&app, &eve.user_id).await, [("ada@example.com".to_owned(), true)]);
}

#[tokio::test]
async fn the_link_works_for_an_extra_address_and_for_seven_days() {
    let app = TestApp::start().await;
    let eve = app.sign_up("eve@example.com").await;
    let channel = added(&app, &eve, "ada@example.com").await;
    let code = verification_code(&app, &eve, &channel, "ada@example.com").await;
    let release = link(&app, "ada@example.com").await;
    app.advance(SignedDuration::from_hours(7 * 24));
    for method in ["GET", "POST"] {
        let late = app.anonymous().request(method, &release).send().await;
        assert_eq!((late.status(), late.header("x-stack-known-error")), (400, Some("VERIFICATION_CODE_EXPIRED")));
    }
    let unknown = app.anonymous().get(&format!("/api/v1/contact-channels/release-link?code={code}")).await;
    assert_eq!((unknown.status(), unknown.header("x-stack-known-error")), (404, Some("VERIFICATION_CODE_NOT_FOUND")));
    assert_eq!(addresses(&app, &eve.user_id).await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_concurrent_uses_one_succeeds() {
    let app = std::sync::Arc::new(TestApp::start().await);
    let (_, link) = squatted(&app).await;
    let uses = (0..20).map(|_| {
        let (app, link) = (std::sync::Arc::clone(&app), link.clone());
        tokio::spawn(async move { app.anonymous().request("POST", &link).send().await })
    });
    let mut released = 0;
    for answer in uses.collect::<Vec<_>>() {
        let answer = answer.await.unwrap();
        assert_eq!(answer.status(), 200);
        released += usize::from(answer.text().contains("free again"));
    }
    assert_eq!(released, 1);
}
