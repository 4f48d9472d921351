//! The user's ways of signing in: the password, passkeys, the second step and linked accounts.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::authenticator::{Ceremony, Page, SoftPasskey};
use support::{SignedInUser, TestApp};
use url::Url;

use super::{Browser, assert_has, assert_lacks, id, items, value};
use crate::auth::mfa_authenticators::{Phone, set_up};
use crate::auth::oauth_callback::{come_back, start};

const PASSWORD: &str = "correct horse battery";
const NEW: &str = "a better horse battery";
const APPS: &str = "/api/v1/auth/mfa/authenticators";

async fn signs_in(app: &TestApp, password: &str) -> u16 {
    let body = json!({ "email": "ada@example.com", "password": password });
    app.client().post("/api/v1/auth/password/sign-in", body).await.status()
}

#[tokio::test]
async fn the_password_is_set_and_changed() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    assert_has(&browser.open().await, "You do not have a password yet.");
    browser.refused(&[("action", "password.save"), ("new_password", "short")], "Use at least").await;
    browser.change(&[("action", "password.save"), ("new_password", PASSWORD)], "Your password is set.").await;
    let other = app.sign_in("ada@example.com").await;

    let form = |old| [("action", "password.save"), ("old_password", old), ("new_password", NEW)];
    let refused = browser.refused(&form("wrong"), "The current password is wrong.").await;
    assert_lacks(refused.text(), NEW);
    browser.change(&form(PASSWORD), "All other sessions have ended.").await;
    assert_eq!((signs_in(&app, PASSWORD).await, signs_in(&app, NEW).await), (400, 200));
    assert_eq!(Browser::of(&app, &other).get(&browser.path).await.status(), 303);
    app.configure(json!({ "config": { "credential_enabled": false } })).await;
    assert_lacks(&browser.open().await, "id=\"password\"");
}

#[tokio::test]
async fn passkeys_are_added_renamed_and_deleted() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    assert_lacks(&browser.open().await, "id=\"passkeys\"");
    app.offer_passkeys().await;
    let Ceremony { options, code } = Ceremony::of(&browser.post(&[("action", "passkeys.begin")]).await);
    let passkey = SoftPasskey::create(&options, Page::new(support::API_URL, "localhost"), 1);
    let credential = passkey.registration(&options).to_string();
    let form = [("action", "passkeys.add"), ("passkey_code", code.as_str()), ("passkey", &credential)];
    assert_has(&browser.change(&form, "The passkey is added.").await, "Never used");
    browser.refused(&form, "This code").await;
    browser.refused(&[("action", "passkeys.add"), ("passkey_code", "x"), ("passkey", "nonsense")], "").await;

    let listed = items(&app, &ada, "/api/v1/passkeys?user_id=me").await.remove(0);
    let rename = format!("passkeys.rename:{}", id(&listed));
    browser.refused(&[("action", &rename), ("name", "")], "This name is empty").await;
    assert_has(&browser.change(&[("action", &rename), ("name", "Laptop")], "The name is changed.").await, "<bdi>Laptop</bdi>");
    browser.press(&format!("passkeys.delete:{}", id(&listed)), "The passkey is deleted here.").await;
    assert!(items(&app, &ada, "/api/v1/passkeys?user_id=me").await.is_empty());
}

fn codes(page: &str) -> Vec<&str> {
    page.split("<code>").skip(1).map(|rest| rest.split('<').next().unwrap()).collect()
}

#[tokio::test]
async fn an_authenticator_app_is_set_up_and_its_recovery_codes_are_shown_once() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    let begun = browser.post(&[("action", "second-step.begin")]).await;
    assert_eq!(begun.status(), 200, "{}", begun.text());
    assert_has(begun.text(), "<path d=\"M0 0h7v1H0z");
    let field = |name| value(begun.text(), name);
    let (setup, secret, url) = (field("setup"), field("secret"), field("url"));
    assert!(url.starts_with("otpauth://totp/") && url.contains(&secret), "{url}");
    let phone = Phone::of(&json!({ "code": setup, "secret_base32": secret }));
    let form = |totp| -> [(&str, &str); 6] {
        [("action", "second-step.verify"), ("setup", &setup), ("secret", &secret), ("url", &url), ("totp", totp), ("app_name", "Phone")]
    };
    let refused = browser.refused(&form("000000"), "This code is wrong").await;
    assert_has(refused.text(), "<path d=\"M0 0h7v1H0z");
    assert_eq!(value(refused.text(), "setup"), setup);
    let shows = phone.shows(&app);
    let shown = browser.post(&form(&format!("{} {}", &shows[..3], &shows[3..]))).await;
    assert_has(shown.text(), "Save your recovery codes");
    assert_eq!(codes(shown.text()).len(), 10);
    assert_has(shown.header("cache-control").unwrap(), "no-store");
    let page = browser.open().await;
    assert_has(&page, "<bdi>Phone</bdi>");
    assert_has(&page, "Codes left: 10.");
    assert_lacks(&page, codes(shown.text())[0]);

    let new = browser.post(&[("action", "second-step.codes")]).await;
    assert_ne!(codes(new.text()), codes(shown.text()));
    let listed = items(&app, &ada, APPS).await.remove(0);
    let rename = format!("second-step.rename:{}", id(&listed));
    assert_has(&browser.change(&[("action", &rename), ("name", "New phone")], "The name is changed.").await, "<bdi>New phone</bdi>");
    let page = browser.press(&format!("second-step.delete:{}", id(&listed)), "The app is deleted.").await;
    assert_lacks(&page, "second-step.codes");
    assert!(items(&app, &ada, APPS).await.is_empty());
}

#[tokio::test]
async fn remembered_devices_are_listed_and_forgotten() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "second_factor": { "remember_device_days": 30 } } })).await;
    let ada = app.sign_up("ada@example.com").await;
    let (phone, _) = set_up(&app, &ada).await;
    app.advance(SignedDuration::from_secs(30));
    let body = json!({ "email": "ada@example.com", "password": PASSWORD });
    let asked = app.client().post("/api/v1/auth/password/sign-in", body).await.json();
    let attempt = &asked["details"]["attempt_code"];
    let body = json!({ "code": attempt, "type": "totp", "totp": phone.shows(&app), "remember_device": true });
    assert_eq!(app.client().post("/api/v1/auth/mfa/sign-in", body).await.status(), 200);
    let device = items(&app, &ada, "/api/v1/auth/mfa/devices").await.remove(0);
    let mut browser = Browser::of(&app, &ada);
    browser.press(&format!("second-step.forget:{}", id(&device)), "The device is forgotten.").await;
    assert_has(&browser.open().await, "No device is remembered.");
    browser.refused(&[("action", &format!("second-step.forget:{}", id(&device)))], "no longer remembered").await;
}

#[tokio::test]
async fn who_owes_a_second_step_can_set_it_up() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "second_factor": { "required_of_everyone": true } } })).await;
    let ada = app.sign_up("ada@example.com").await;
    let begun = Browser::of(&app, &ada).post(&[("action", "second-step.begin")]).await;
    assert_has(begun.text(), "Scan this picture");
}

fn accounts(page: &str) -> usize {
    page.matches("providers.unlink:").count()
}

async fn linked(app: &TestApp, ada: &SignedInUser) -> Vec<Value> {
    items(app, ada, "/api/v1/oauth-providers?user_id=me").await
}

#[tokio::test]
async fn an_account_at_a_provider_is_linked_and_unlinked() {
    let (app, provider) = start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    let begun = browser.post(&[("action", "providers.link:acme")]).await;
    assert_eq!(begun.status(), 200, "{}", begun.text());
    let (_, rest) = begun.text().split_once("http-equiv=\"refresh\" content=\"0; url=").unwrap();
    let location = rest.split('"').next().unwrap().replace("&amp;", "&").replace("&#x2f;", "/");
    assert_lacks(&location, "eyJ");
    let account = json!({ "sub": "acme|1", "email": "lovelace@example.com", "email_verified": true });
    let (code, state) = provider.allow(&app, &location.parse::<Url>().unwrap(), account);
    let back = come_back(&app, &code, &state).await.header("location").unwrap().to_owned();
    let callback = back.strip_prefix(support::API_URL).unwrap().to_owned();
    assert!(callback.starts_with("/handler/oauth-callback?"), "{back}");

    // Only the browser that began the flow can complete it.
    let eve = app.sign_up("eve@example.com").await;
    assert_has(Browser::of(&app, &eve).get(&callback).await.text(), "began in another browser");
    assert!(linked(&app, &ada).await.is_empty());

    let ended = browser.get(&callback).await;
    assert_eq!(ended.status(), 303, "{}", ended.text());
    assert!(ended.header("location").unwrap().ends_with("#providers"));
    let page = browser.open().await;
    assert_has(&page, "The account is linked.");
    assert_eq!(accounts(&page), 1);
    assert_eq!(items(&app, &ada, "/api/v1/auth/sessions").await.len(), 1);
    let account = linked(&app, &ada).await.remove(0);
    let page = browser.press(&format!("providers.unlink:{}", id(&account)), "The account is no longer linked.").await;
    assert_eq!(accounts(&page), 0);
    browser.refused(&[("action", "providers.link:nobody")], "This provider is not available here.").await;
}
