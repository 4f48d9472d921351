//! Changes that require a proof.

use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule};
use serde_json::json;
use support::authenticator::{Ceremony, Page, SoftPasskey};
use support::{Answer, SignedInUser, TestApp};

use super::{Browser, assert_has, assert_lacks, items, value};
use crate::auth::mfa_authenticators::set_up;
use crate::challenges::altcha::{easy, solved};
use crate::challenges::guard;

const PASSWORD: &str = "correct horse battery";
const CHANNELS: &str = "/api/v1/contact-channels?user_id=me";

/// Makes all sessions too old for changes to how the users sign in.
async fn make_stale(app: &TestApp) {
    app.configure(json!({ "config": { "reauthentication_max_age_seconds": 60 } })).await;
    app.advance(SignedDuration::from_secs(60));
}

/// Sends the form for the proof, with its hidden fields.
async fn prove(browser: &mut Browser<'_>, asked: &Answer, proof: [(&str, &str); 2]) -> Answer {
    let form = asked.text().split("<form").nth(1).unwrap().split("</form>").next().unwrap();
    let hidden = form.split("type=\"hidden\" name=\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned());
    let fields: Vec<(String, String)> = hidden.map(|name| (name.clone(), value(form, &name))).collect();
    let fields: Vec<_> = fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(proof).collect();
    let request = browser.request("POST").form(&fields);
    browser.send(request).await
}

fn password(password: &str) -> [(&str, &str); 2] {
    [("action", "confirm.password"), ("password", password)]
}

async fn stale(app: &TestApp) -> SignedInUser {
    let ada = app.sign_up("ada@example.com").await;
    make_stale(app).await;
    ada
}

#[tokio::test]
async fn a_change_goes_on_after_the_password() {
    let app = TestApp::start().await;
    let ada = stale(&app).await;
    let mut browser = Browser::of(&app, &ada);
    let session = items(&app, &ada, CHANNELS).await.remove(0);
    let off = format!("emails.sign-in-off:{}", session["id"].as_str().unwrap());
    app.configure(json!({ "config": { "passkey_enabled": true } })).await;
    let asked = browser.post(&[("action", &off)]).await;
    assert_has(asked.text(), "Confirm that it is you");
    let wrong = prove(&mut browser, &asked, password("wrong")).await;
    assert_has(wrong.text(), "The current password is wrong.");
    assert_has(wrong.text(), &format!("name=\"then.action\" value=\"{off}\""));
    // The proof is correct, but the change is refused for a different reason.
    let refused = prove(&mut browser, &wrong, password(PASSWORD)).await;
    assert_has(refused.text(), "This is your only way to sign in.");

    let begun = browser.post(&[("action", "second-step.begin")]).await;
    assert_has(begun.text(), "Scan this picture");
}

#[tokio::test]
async fn a_password_is_never_kept_and_has_to_be_typed_again() {
    let app = TestApp::start().await;
    let ada = stale(&app).await;
    let mut browser = Browser::of(&app, &ada);
    let form = [("action", "password.save"), ("old_password", PASSWORD), ("new_password", "a better horse battery")];
    let asked = browser.post(&form).await;
    assert_has(asked.text(), "Confirm that it is you");
    assert_lacks(asked.text(), "horse battery");
    let proved = prove(&mut browser, &asked, password(PASSWORD)).await;
    assert_eq!(proved.status(), 303, "{}", proved.text());
    assert_has(&browser.open().await, "Confirmed. Now submit the form again.");
    browser.change(&form, "Your password is changed.").await;
}

#[tokio::test]
async fn a_code_from_the_app_is_a_proof_too() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let (phone, _) = set_up(&app, &ada).await;
    make_stale(&app).await;
    let mut browser = Browser::of(&app, &ada);
    let asked = browser.post(&[("action", "second-step.codes")]).await;
    assert_has(asked.text(), "Code from the app");
    assert_lacks(asked.text(), "type=\"password\"");
    let shown = prove(&mut browser, &asked, [("action", "confirm.code"), ("totp", &phone.shows(&app))]).await;
    assert_has(shown.text(), "Save your recovery codes");
}

#[tokio::test]
async fn the_script_of_passkeys_asks_for_the_proof() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = stale(&app).await;
    let mut browser = Browser::of(&app, &ada);
    let begun = browser.post(&[("action", "passkeys.begin")]).await;
    assert_eq!(begun.json()["code"], "REAUTHENTICATION_REQUIRED");
    let asked = browser.post(&[("action", "confirm.ask:passkeys")]).await;
    assert_eq!(prove(&mut browser, &asked, password(PASSWORD)).await.status(), 303);
    assert_has(&browser.open().await, "Confirmed. Now submit the form again.");
    let Ceremony { options, code } = Ceremony::of(&browser.post(&[("action", "passkeys.begin")]).await);
    let passkey = SoftPasskey::create(&options, Page::new(support::API_URL, "localhost"), 1);
    let form = [("action", "passkeys.add"), ("passkey_code", &*code), ("passkey", &*passkey.registration(&options).to_string())];
    browser.change(&form, "The passkey is added.").await;
}

#[tokio::test]
async fn during_a_flood_an_address_is_added_after_a_challenge() {
    let app = TestApp::start_with(Limits::off().with(Rule::ChallengeUsualAddress, Some(Rate::new(3, 3600)))).await;
    guard(&app, json!({ "provider": "altcha" })).await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    for number in 0..2 {
        browser.change(&[("action", "emails.add"), ("email", &format!("ada{number}@work.example"))], "The address is added.").await;
    }
    let asked = browser.post(&[("action", "emails.add"), ("email", "ada@work.example")]).await;
    assert_eq!(asked.status(), 409, "{}", asked.text());
    assert_has(asked.text(), "data-provider=\"altcha\"");
    let (form, token) = (asked.text(), solved(&easy(&app)));
    let [form_token, action] = ["form_token", "action"].map(|name| value(form, name));
    let fields = [("form_token", &*form_token), ("action", &action), ("bot_challenge_token", &token)];
    let request = browser.request("POST").form(&fields);
    let sent = browser.send(request).await;
    assert_eq!(sent.status(), 303, "{}", sent.text());
    assert_has(&app.last_mail("ada@work.example").await.0.text, "/handler/email-verification?");
}
