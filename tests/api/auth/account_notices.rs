//! The emails about changes to how a user signs in, and `/api/v1/auth/not-me-link`, the path of the
//! link in these emails.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, Mail, SignedInUser, TestApp, authenticator_code};

use super::assert_error;
use super::mfa_recovery_codes::{codes, left, recover};
use super::mfa_sign_in::{attempt, sign_in as totp_sign_in};
use super::oauth_callback::{ada as account, exchange, flow, parameter, start};

const ADA: &str = "ada@example.com";
const PASSWORD: &str = "correct horse battery";
const NEW: &str = "a better horse battery";
const CHANNELS: &str = "/api/v1/contact-channels";
const SECRET: &str = "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=";

/// The notices sent to an address, oldest first.
pub(crate) async fn notices(app: &TestApp, address: &str) -> Vec<Mail> {
    let mut mails: Vec<Mail> = app.mails(address).await.into_iter().filter(|mail| mail.0.subject.ends_with(" was changed")).collect();
    mails.reverse();
    mails
}

/// The path of the link in an email.
pub(crate) fn link(mail: &Mail) -> String {
    let link = mail.0.text.split_whitespace().find(|word| word.contains("/not-me-link?")).unwrap_or_else(|| panic!("{}", mail.0.text));
    assert!(mail.0.html.contains(link), "{}", mail.0.html);
    link.strip_prefix(support::API_URL).unwrap().to_owned()
}

pub(crate) async fn press(app: &TestApp, link: &str) -> Answer {
    let answer = app.anonymous().request("POST", link).send().await;
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("text/html; charset=utf-8")), "{}", answer.text());
    answer
}

/// Gives the project's app a domain and pages.
pub(crate) async fn with_pages(app: &TestApp) {
    app.configure(json!({ "config": { "domains": [{ "domain": "https://app.example.com", "handler_path": "/auth" }] } })).await;
}

/// Signs up with a verified address.
pub(crate) async fn verified(app: &TestApp, address: &str) -> SignedInUser {
    let user = app.sign_up(address).await;
    let path = format!("/api/v1/users/{}", user.user_id);
    assert_eq!(app.server().patch(&path, json!({ "primary_email_verified": true })).await.status(), 200);
    user
}

/// A verified account of `ada@example.com`, in a project with pages in its app.
pub(crate) async fn owned(app: &TestApp) -> SignedInUser {
    with_pages(app).await;
    verified(app, ADA).await
}

async fn user(app: &TestApp, id: &str) -> Value {
    app.server().get(&format!("/api/v1/users/{id}")).await.json()
}

/// Asserts that `count` notices were sent to the address. Returns the lines of the newest notice
/// between its heading and its time.
async fn told(app: &TestApp, address: &str, count: usize) -> Vec<String> {
    let notices = notices(app, address).await;
    assert_eq!(notices.len(), count);
    let text = notices.last().map(|mail| mail.0.text.as_str()).unwrap_or_default();
    text.lines().skip(4).take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn password_and_app_changes_are_notified_with_time_and_place() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    let own = app.signed_in(&ada).with("cloudfront-viewer-city", "Lisbon").with("cloudfront-viewer-country", "PT");
    let change = json!({ "old_password": PASSWORD, "new_password": NEW });
    assert_eq!(own.post("/api/v1/auth/password/update", change).await.status(), 200);
    assert_eq!(told(&app, ADA, 1).await, ["The password was changed."]);
    let mail = notices(&app, ADA).await.remove(0);
    for part in [&mail.0.text, &mail.0.html] {
        assert!(part.contains("1 January 2026, 12:00 UTC") && part.contains("Lisbon, PT") && part.contains("Address "), "{part}");
    }
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(own.patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    assert_eq!(told(&app, ADA, 2).await, ["An authenticator app was set up."]);
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(own.patch("/api/v1/users/me", json!({ "totp_secret_base64": null })).await.status(), 200);
    assert_eq!(told(&app, ADA, 3).await, ["The authenticator app was removed."]);
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(own.patch("/api/v1/users/me", json!({ "display_name": "Ada" })).await.status(), 200);
    assert_eq!(notices(&app, ADA).await.len(), 3, "a name change is not notified");
}

#[tokio::test]
async fn a_reset_and_a_first_password_are_notified() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    let body = json!({ "email": ADA, "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", body).await.status(), 200);
    let code = app.last_mail(ADA).await.code();
    assert_eq!(app.client().post("/api/v1/auth/password/reset", json!({ "code": code, "password": NEW })).await.status(), 200);
    assert_eq!(told(&app, ADA, 1).await, ["The password was reset with a code from an email."]);
    app.advance(SignedDuration::from_secs(1));
    let path = format!("/api/v1/users/{}", ada.user_id);
    assert_eq!(app.server().patch(&path, json!({ "password": null })).await.status(), 200);
    assert_eq!(told(&app, ADA, 2).await, ["The password was removed."]);
    assert!(!notices(&app, ADA).await[1].0.text.contains("Address "), "the notice does not show the server's IP address");
    app.advance(SignedDuration::from_secs(1));
    let session = app.sign_in_by_mail(ADA).await;
    assert_eq!(app.signed_in(&session).post("/api/v1/auth/password/set", json!({ "password": NEW })).await.status(), 200);
    assert_eq!(told(&app, ADA, 3).await, ["A password was set."]);
}

#[tokio::test]
async fn disabling_and_enabling_emailed_codes_is_notified() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    let own = app.signed_in(&ada);
    // Enabling codes that already work changes nothing, and neither does disabling them twice.
    for (enabled, count, text) in [(true, 0, ""), (false, 1, "disabled"), (false, 1, "disabled"), (true, 2, "was ")] {
        app.advance(SignedDuration::from_secs(1));
        assert_eq!(own.patch("/api/v1/users/me", json!({ "otp_auth_enabled": enabled })).await.status(), 200);
        let lines = told(&app, ADA, count).await;
        assert!(lines.iter().all(|line| line.starts_with("Sign-in by emailed code or link") && line.contains(text)), "{lines:?}");
    }
    press(&app, &link(&notices(&app, ADA).await[0])).await;
    assert_eq!(app.sign_in_by_mail(ADA).await.user_id, ada.user_id);
}

#[tokio::test]
async fn address_changes_are_notified_to_the_previous_addresses() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    let server = app.server();
    let body = json!({ "user_id": ada.user_id, "value": "work@example.com", "type": "email", "used_for_auth": true, "is_verified": true });
    let added = server.post(CHANNELS, body).await;
    let path = format!("{CHANNELS}/{}/{}", ada.user_id, added.json()["id"].as_str().unwrap());
    assert_eq!(told(&app, ADA, 1).await, ["work@example.com can be used to sign in."]);
    assert!(notices(&app, "work@example.com").await.is_empty());
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(server.patch(&path, json!({ "is_primary": true })).await.status(), 200);
    for (address, count) in [(ADA, 2), ("work@example.com", 1)] {
        assert_eq!(told(&app, address, count).await, ["work@example.com is the primary address."]);
    }
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(server.delete(&path).await.status(), 200);
    for (address, count) in [(ADA, 3), ("work@example.com", 2)] {
        assert_eq!(told(&app, address, count).await, ["work@example.com can no longer be used to sign in."]);
    }
}

#[tokio::test]
async fn a_pending_address_is_notified_once_it_signs_in() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    let own = app.signed_in(&ada);
    let body = json!({ "user_id": "me", "value": "eve@example.com", "type": "email", "used_for_auth": true });
    let id = own.post(CHANNELS, body).await.json()["id"].as_str().unwrap().to_owned();
    assert!(notices(&app, ADA).await.is_empty());
    let callback = json!({ "callback_url": "http://localhost:3000/x" });
    assert_eq!(own.post(&format!("{CHANNELS}/me/{id}/send-verification-code"), callback).await.status(), 200);
    let code = app.last_mail("eve@example.com").await.code();
    assert_eq!(app.client().post("/api/v1/contact-channels/verify", json!({ "code": code })).await.status(), 200);
    assert_eq!(told(&app, ADA, 1).await, ["eve@example.com can be used to sign in."]);
    assert!(notices(&app, "eve@example.com").await.is_empty());
}

#[tokio::test]
async fn merging_linking_and_unlinking_provider_accounts_is_notified() {
    let (app, provider) = start().await;
    let ada = verified(&app, ADA).await;
    // The provider vouches for the address, so the provider account is linked to the user.
    let code = parameter(&flow(&app, &provider, account(), &[]).await, "code");
    assert_eq!(exchange(&app, &code).await.status(), 200);
    assert_eq!(told(&app, ADA, 1).await, ["An account at acme was linked."]);
    app.advance(SignedDuration::from_secs(1));
    // The user links another account.
    let other = json!({ "sub": "acme|2", "email": "other@example.com", "email_verified": true });
    let token = [("type", "link"), ("token", ada.access_token.as_str())];
    let code = parameter(&flow(&app, &provider, other, &token).await, "code");
    assert_eq!(notices(&app, ADA).await.len(), 1, "an unfinished flow links nothing");
    assert_eq!(exchange(&app, &code).await.status(), 200);
    assert_eq!(told(&app, ADA, 2).await, ["An account at acme was linked."]);
    app.advance(SignedDuration::from_secs(1));
    let list = app.server().get(&format!("/api/v1/oauth-providers?user_id={}", ada.user_id)).await.json();
    let path = format!("/api/v1/oauth-providers/{}/{}", ada.user_id, list["items"][0]["id"].as_str().unwrap());
    assert_eq!(app.server().delete(&path).await.status(), 200);
    assert_eq!(told(&app, ADA, 3).await, ["An account at acme was unlinked."]);

    let undone = press(&app, &link(&notices(&app, ADA).await[0])).await;
    assert!(undone.text().contains("locked out of your account"), "{}", undone.text());
    assert_eq!(user(&app, &ada.user_id).await["oauth_providers"], json!([]));
}

#[tokio::test]
async fn passkeys_are_notified_unless_the_project_disables_it() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = verified(&app, ADA).await;
    app.add_passkey(&ada, 1).await;
    assert_eq!(told(&app, ADA, 1).await, ["A passkey was added."]);
    app.configure(json!({ "config": { "disabled_notices": ["passkey"] } })).await;
    app.add_passkey(&ada, 2).await;
    let none = app.signed_in(&ada).patch("/api/v1/users/me", json!({ "passkey_auth_enabled": false })).await;
    assert_eq!((none.status(), notices(&app, ADA).await.len()), (200, 1));
}

#[tokio::test]
async fn a_project_can_disable_single_notices() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    app.configure(json!({ "config": { "disabled_notices": ["authenticator-app", "provider-account"] } })).await;
    let config = app.admin().get("/api/v1/internal/projects/current").await.json()["config"].clone();
    assert_eq!(config["disabled_notices"], json!(["authenticator-app", "provider-account"]));
    let own = app.signed_in(&ada);
    assert_eq!(own.patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    assert!(notices(&app, ADA).await.is_empty());
    let both = json!({ "totp_secret_base64": null, "password": NEW });
    assert_eq!(app.server().patch(&format!("/api/v1/users/{}", ada.user_id), both).await.status(), 200);
    assert_eq!(told(&app, ADA, 1).await, ["The password was changed."]);
    let unknown = json!({ "config": { "disabled_notices": ["weather"] } });
    assert_error(&app.admin().patch("/api/v1/internal/projects/current", unknown).await, 400, "SCHEMA_ERROR");
}

#[tokio::test]
async fn the_page_changes_nothing_and_its_button_requires_a_password_reset() {
    let app = TestApp::start().await;
    let ada = owned(&app).await;
    let own = app.signed_in(&ada);
    assert_eq!(own.patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    let link = link(&notices(&app, ADA).await[0]);
    let table = app.table();
    for _ in 0..2 {
        let page = app.anonymous().get(&link).await;
        assert_eq!((page.status(), page.header("referrer-policy")), (200, Some("no-referrer")));
        assert!(page.text().contains("<form method=\"post\">") && page.text().contains(ADA), "{}", page.text());
    }
    assert_eq!(app.table(), table);

    let done = press(&app, &link).await;
    assert!(done.text().contains("The changes are undone") && done.text().contains("We have sent a link"), "{}", done.text());
    assert_error(&own.get("/api/v1/users/me").await, 401, "ACCESS_TOKEN_EXPIRED");
    let account = user(&app, &ada.user_id).await;
    assert_eq!((&account["has_password"], &account["requires_totp_mfa"]), (&json!(false), &json!(false)));
    let mail = app.last_mail(ADA).await;
    assert!(mail.link().starts_with("https://app.example.com/auth/password-reset?code="), "{}", mail.link());
    let reset = json!({ "code": mail.code(), "password": NEW });
    assert_eq!(app.client().post("/api/v1/auth/password/reset", reset).await.status(), 200);
    let sign_in = json!({ "email": ADA, "password": NEW });
    assert_eq!(app.client().post("/api/v1/auth/password/sign-in", sign_in).await.status(), 200);

    let table = app.table();
    for method in ["GET", "POST"] {
        let again = app.anonymous().request(method, &link).send().await;
        assert!(again.status() == 200 && again.text().contains("already been used"), "{}", again.text());
    }
    assert_eq!(app.table(), table);
}

#[tokio::test]
async fn without_a_trusted_domain_the_link_to_a_new_password_leads_to_the_hosted_page() {
    for (has_passwords, text) in [(true, "We have sent a link"), (false, "as usual")] {
        let app = TestApp::start().await;
        let ada = verified(&app, ADA).await;
        assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
        app.configure(json!({ "config": { "credential_enabled": has_passwords } })).await;
        let done = press(&app, &link(&notices(&app, ADA).await[0])).await;
        assert!(done.text().contains(text), "{}", done.text());
        assert_eq!(user(&app, &ada.user_id).await["has_password"], false);
        let page = format!("http://{}.localhost:8787/handler/password-reset?code=", app.project_id());
        assert_eq!(app.mails(ADA).await.iter().any(|mail| mail.0.text.contains(&page)), has_passwords);
    }
}

#[tokio::test]
async fn a_new_sign_in_notice_has_the_same_link() {
    let app = TestApp::start().await;
    let ada = owned(&app).await;
    app.configure(json!({ "config": { "new_sign_in_mails": true } })).await;
    let elsewhere = app.client().with("cloudfront-viewer-address", "198.51.100.1:4711");
    let answer = elsewhere.post("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": PASSWORD })).await;
    let eve = SignedInUser::of(ADA, &answer.json());
    let mail = app.last_mail(ADA).await;
    assert!(mail.0.subject.starts_with("New sign-in"), "{}", mail.0.subject);
    assert_eq!(app.signed_in(&eve).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    assert!(press(&app, &link(&mail)).await.text().contains("The changes are undone"));
    assert_error(&app.signed_in(&eve).get("/api/v1/users/me").await, 401, "ACCESS_TOKEN_EXPIRED");
    assert_eq!(user(&app, &ada.user_id).await["requires_totp_mfa"], false);
}

#[tokio::test]
async fn a_custom_template_replaces_the_default() {
    let app = TestApp::start().await;
    let ada = verified(&app, ADA).await;
    let source = "<p>{{ variables.changes[0].kind }} {{ variables.not_me_link }}</p>";
    let own = json!({ "subject_source": "Achtung was changed", "html_source": source, "text_source": "{{ variables.not_me_link }}" });
    let path = "/api/v1/internal/email-templates/7f3e5b90-2c84-4d16-9ab7-e1d05c6f8243";
    assert_eq!(app.admin().patch(path, own).await.status(), 200);
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    let mail = notices(&app, ADA).await.remove(0);
    assert!(mail.0.subject == "Achtung was changed" && mail.0.html.contains("authenticator-added"), "{}", mail.0.html);
}

#[tokio::test]
async fn the_owner_is_notified_of_new_codes_and_of_each_use() {
    let app = TestApp::start().await;
    let ada = owned(&app).await;
    assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
    app.advance(SignedDuration::from_secs(1));
    let codes = codes(&app, &ada).await;
    assert_eq!(told(&app, ADA, 2).await, ["New recovery codes were created."]);
    for (number, code) in codes.iter().enumerate().take(2) {
        app.advance(SignedDuration::from_secs(1));
        assert_eq!(recover(&app, code).await.status(), 200);
        assert_eq!(told(&app, ADA, 3 + number).await, [format!("A recovery code was used. Codes left: {}.", 9 - number)]);
    }
    assert!(notices(&app, ADA).await.iter().all(|mail| codes.iter().all(|code| !mail.0.text.contains(code.as_str()))));
    // Disabling the notices about the authenticator app also disables the notices about recovery
    // codes.
    app.configure(json!({ "config": { "disabled_notices": ["authenticator-app"] } })).await;
    app.advance(SignedDuration::from_secs(1));
    assert_eq!(recover(&app, &codes[2]).await.status(), 200);
    assert_eq!(notices(&app, ADA).await.len(), 4);
}

#[tokio::test]
async fn the_link_in_a_notice_drops_the_codes_and_keeps_the_app() {
    for undone in ["created", "used"] {
        let app = TestApp::start().await;
        let ada = owned(&app).await;
        assert_eq!(app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": SECRET })).await.status(), 200);
        app.send_emails_until_next_second().await;
        let codes = codes(&app, &ada).await;
        app.send_emails_until_next_second().await;
        assert_eq!(recover(&app, &codes[0]).await.status(), 200);
        let mails = notices(&app, ADA).await;
        press(&app, &link(&mails[if undone == "created" { 1 } else { 2 }])).await;
        let reset = json!({ "code": app.last_mail(ADA).await.code(), "password": PASSWORD });
        assert_eq!(app.client().post("/api/v1/auth/password/reset", reset).await.status(), 200);
        for code in &codes {
            assert_error(&recover(&app, code).await, 400, "INVALID_RECOVERY_CODE");
        }
        let totp = authenticator_code(b"12345678901234567890", app.now().as_second());
        let answer = totp_sign_in(&app, &attempt(&app, ADA).await, &totp).await;
        assert_eq!(answer.status(), 200, "{undone}: {}", answer.text());
        assert_eq!(left(&app, &SignedInUser::of(ADA, &answer.json())).await, 0);
    }
}
