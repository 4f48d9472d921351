//! The users who can open the page, and the data that the page shows them.

use jiff::SignedDuration;
use serde_json::json;
use support::TestApp;

use super::{Browser, assert_has, assert_lacks, id, items, value};

const SESSIONS: &str = "/api/v1/auth/sessions";

#[tokio::test]
async fn without_a_session_the_visitor_signs_in_first() {
    let app = TestApp::start().await;
    let mut stranger = Browser::new(&app);
    for method in ["GET", "POST"] {
        let request = stranger.request(method).form(&[("action", "profile.save"), ("display_name", "Eve")]);
        let answer = stranger.send(request).await;
        let location = answer.header("location").unwrap();
        assert_eq!(answer.status(), 303);
        assert!(location.contains("/handler/sign-in?after_auth_return_to=%2Fhandler%2Faccount-settings"), "{location}");
        assert!(answer.text().is_empty());
    }
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    assert_has(&browser.open().await, "ada@example.com");
    app.server().delete(&format!("{SESSIONS}?user_id={}&include_current=true", ada.user_id)).await;
    assert_eq!(browser.get(&browser.path.clone()).await.status(), 303);
    let anonymous = app.client().post("/api/v1/auth/anonymous/sign-up", json!({})).await.json();
    let nobody = support::SignedInUser::of("", &anonymous);
    assert_eq!(Browser::of(&app, &nobody).get(&browser.path).await.status(), 303);
}

#[tokio::test]
async fn a_form_without_the_token_of_this_session_is_refused() {
    let app = TestApp::start().await;
    let (ada, eve) = (app.sign_up("ada@example.com").await, app.sign_up("eve@example.com").await);
    let (mut browser, mut other) = (Browser::of(&app, &ada), Browser::of(&app, &eve));
    let (own, foreign) = (value(&browser.open().await, "form_token"), value(&other.open().await, "form_token"));
    assert_ne!(own, foreign);
    let fields = |token| [("form_token", token), ("action", "profile.save"), ("display_name", "Mallory")];
    let forged = [
        browser.request("POST").form(&fields("")),
        browser.request("POST").form(&fields(&foreign)),
        browser.request("POST").form(&fields(&own)).header("origin", "https://evil.example"),
        browser.request("POST").form(&fields(&own)).header("sec-fetch-site", "cross-site"),
        browser.request("POST").form(&fields(&own)).header("sec-fetch-site", "same-site"),
    ];
    for request in forged {
        let answer = browser.send(request).await;
        assert_eq!(answer.status(), 403);
        assert_has(answer.text(), "This form has expired. Submit it again.");
    }
    let name = async || app.signed_in(&ada).get("/api/v1/users/me").await.json()["display_name"].clone();
    assert_eq!(name().await, json!(null));
    let request = browser.request("POST").form(&fields(&own)).header("sec-fetch-site", "same-origin");
    assert_eq!(browser.send(request).await.status(), 303);
    assert_eq!(name().await, "Mallory");
}

#[tokio::test]
async fn things_of_others_are_not_found() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    app.configure(json!({ "config": { "allow_user_api_keys": true } })).await;
    let (ada, eve) = (app.sign_up("ada@example.com").await, app.sign_up("eve@example.com").await);
    app.add_passkey(&ada, 1).await;
    let mut browser = Browser::of(&app, &eve);
    let session = items(&app, &ada, SESSIONS).await;
    browser.refused(&[("action", &format!("sessions.end:{}", id(&session[0])))], "This session has already ended.").await;
    let channel = items(&app, &ada, "/api/v1/contact-channels?user_id=me").await;
    for verb in ["delete", "make-primary", "send", "sign-in-off"] {
        let action = format!("emails.{verb}:{}", id(&channel[0]));
        browser.refused(&[("action", &action)], "This address no longer belongs to an account.").await;
    }
    let passkey = items(&app, &ada, "/api/v1/passkeys?user_id=me").await;
    browser.refused(&[("action", &format!("passkeys.delete:{}", id(&passkey[0])))], "This passkey no longer exists.").await;
    let key = app.signed_in(&ada).post("/api/v1/user-api-keys", json!({ "user_id": "me", "description": "backup" })).await.json();
    browser.refused(&[("action", &format!("keys.revoke:{}", id(&key)))], "This key no longer exists.").await;
    for odd in ["", "..", "x/../../y", "%2e%2e", "me?user_id=me", "\u{202e}"] {
        for verb in ["emails.delete", "sessions.end", "passkeys.delete", "second-step.delete", "providers.unlink", "teams.leave"] {
            let answer = browser.post(&[("action", &format!("{verb}:{odd}"))]).await;
            assert!((400..500).contains(&answer.status()), "{verb} {odd} {}", answer.text());
        }
    }
    assert_eq!(items(&app, &ada, SESSIONS).await.len(), 1);
    assert_eq!(items(&app, &ada, "/api/v1/contact-channels?user_id=me").await, channel);
}

#[tokio::test]
async fn hostile_names_are_text() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let name = "<img src=x onerror=alert(1)>\"'\u{202e}";
    let patch = json!({ "display_name": name, "profile_image_url": "https://a;script-src/x.png" });
    let path = format!("/api/v1/users/{}", ada.user_id);
    let set = app.server().patch(&path, patch).await;
    assert!(set.status() == 200 || set.status() == 400, "{}", set.text());
    app.server().patch(&path, json!({ "display_name": "<b>Ada</b>\"" })).await;
    let long = "<i>".repeat(80);
    let team = json!({ "display_name": long, "creator_user_id": ada.user_id });
    assert_eq!(app.server().post("/api/v1/teams", team).await.status(), 201);
    let answer = Browser::of(&app, &ada).get(&Browser::new(&app).path).await;
    let page = answer.text();
    for tag in ["<img src=x", "<b>Ada", "<i>"] {
        assert_lacks(page, tag);
    }
    assert_has(page, "<bdi>&lt;b&gt;Ada&lt;&#x2f;b&gt;");
    assert_lacks(page, &long.replace('<', "&lt;").replace('>', "&gt;"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.split(';').filter(|part| part.trim_start().starts_with("script-src")).count() == 1, "{policy}");
    let mut browser = Browser::of(&app, &ada);
    let huge = "x".repeat(10_000);
    browser.refused(&[("action", "profile.save"), ("display_name", &huge)], "This name is empty, too long").await;
}

#[tokio::test]
async fn an_ordinary_page_is_small_and_long_lists_are_cut() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let on = json!({ "client_user_deletion_enabled": true, "client_team_creation_enabled": true, "allow_user_api_keys": true });
    app.configure(json!({ "config": on })).await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    browser.change(&[("action", "emails.add"), ("email", "ada@work.example")], "The address is added.").await;
    for number in 0..2 {
        app.add_passkey(&ada, number).await;
    }
    for _ in 0..4 {
        app.sign_in("ada@example.com").await;
    }
    let page = browser.open().await;
    assert!(page.len() < 30 * 1024, "{}", page.len());
    assert_eq!(page.matches("sessions.end:").count(), 4);
    for _ in 0..20 {
        app.sign_in("ada@example.com").await;
    }
    let page = browser.open().await;
    assert_eq!(page.matches("sessions.end:").count(), 19);
    assert_has(&page, "and 5 more");
    assert_has(&page, "This device");
}

#[tokio::test]
async fn opening_the_page_keeps_the_session_alive() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    let used = async || {
        let listed = app.server().get(&format!("{SESSIONS}?user_id={}", ada.user_id)).await.json();
        listed["items"][0]["last_used_at"].as_i64().unwrap()
    };
    let began = used().await;
    app.advance(SignedDuration::from_mins(5));
    browser.open().await;
    assert_eq!(used().await, began);
    app.advance(SignedDuration::from_secs(1));
    browser.open().await;
    assert_eq!(used().await, began + 301_000);
}

#[tokio::test]
async fn the_page_speaks_german() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    browser.path.push_str("&ui_locales=de");
    browser.cookies.insert("gatelet-browser-x".to_owned(), "y".to_owned());
    let page = browser.open().await;
    assert_has(&page, "<html lang=\"de\"");
    assert_has(&page, "Konto erstellt");
    assert_has(&page, "gerade eben");
    browser.change(&[("action", "profile.save"), ("display_name", "Ada")], "Dein Profil ist gespeichert.").await;
}
