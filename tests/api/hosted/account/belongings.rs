//! The sections for profile, addresses, sessions, teams, keys and data, and the deletion of the
//! account.

use serde_json::json;
use support::TestApp;

use super::{Browser, assert_has, assert_lacks, id, items};
use crate::teams::invitations::invite;
use crate::teams::team;

const CHANNELS: &str = "/api/v1/contact-channels?user_id=me";

#[tokio::test]
async fn the_profile_is_saved_and_its_picture_removed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    let picture = "https://p.example/ada.png";
    let form = [("action", "profile.save"), ("display_name", " Ada "), ("picture_url", picture)];
    let page = browser.change(&form, "Your profile is saved.").await;
    assert_has(&page, "<bdi>Ada</bdi></h1>");
    assert_has(&page, "src=\"https:&#x2f;&#x2f;p.example&#x2f;ada.png\"");
    let policy = browser.get(&browser.path.clone()).await.header("content-security-policy").unwrap().to_owned();
    assert!(policy.contains("img-src 'self' data: https://p.example;"), "{policy}");
    let me = async || app.signed_in(&ada).get("/api/v1/users/me").await.json();
    browser.change(&[("action", "profile.save"), ("display_name", "Ada L.")], "Your profile is saved.").await;
    assert_eq!((&me().await["display_name"], &me().await["profile_image_url"]), (&json!("Ada L."), &json!(picture)));

    let bad = [("action", "profile.save"), ("display_name", "Typed"), ("picture_url", "javascript:alert(1)")];
    let refused = browser.refused(&bad, "Enter the address of a picture").await;
    assert_has(refused.text(), "value=\"Typed\"");
    browser.press("profile.remove-picture", "Your picture is removed.").await;
    assert_eq!(me().await["profile_image_url"], json!(null));
    browser.change(&[("action", "profile.save"), ("display_name", "")], "Your profile is saved.").await;
    assert_eq!(me().await["display_name"], json!(null));
}

#[tokio::test]
async fn addresses_are_added_verified_changed_and_deleted() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    let page = browser.change(&[("action", "emails.add"), ("email", " Ada@Work.Example ")], "The address is added.").await;
    assert_has(&page, "<bdi>ada@work.example</bdi>");
    let added = items(&app, &ada, CHANNELS).await.remove(1);
    assert_eq!(app.mails("ada@work.example").await.len(), 1);
    browser.press(&format!("emails.send:{}", id(&added)), "We sent the link again.").await;
    let link = app.last_mail("ada@work.example").await.link();
    assert!(link.contains("/handler/email-verification?"), "{link}");
    let shown = browser.get(link.strip_prefix(support::API_URL).unwrap()).await;
    assert_has(shown.text(), "Confirm that this address is yours.");
    let code = app.last_mail("ada@work.example").await.code();
    assert_eq!(app.signed_in(&ada).post("/api/v1/contact-channels/verify", json!({ "code": code })).await.status(), 200);

    browser.press(&format!("emails.make-primary:{}", id(&added)), "The address is now your primary one.").await;
    browser.press(&format!("emails.sign-in-on:{}", id(&added)), "You can sign in with the address").await;
    let now = items(&app, &ada, CHANNELS).await.remove(1);
    assert_eq!((&now["is_primary"], &now["used_for_auth"], &now["is_verified"]), (&json!(true), &json!(true), &json!(true)));
    browser.press(&format!("emails.sign-in-off:{}", id(&added)), "The address no longer signs you in.").await;
    browser.press(&format!("emails.delete:{}", id(&added)), "The address is deleted.").await;
    assert_eq!(items(&app, &ada, CHANNELS).await.len(), 1);

    browser.refused(&[("action", "emails.add"), ("email", "ada@example.com")], "You already have this address.").await;
    let refused = browser.refused(&[("action", "emails.add"), ("email", "nonsense")], "Enter an email address").await;
    assert_has(refused.text(), "value=\"nonsense\"");
}

#[tokio::test]
async fn sessions_are_ended_one_by_one_or_together() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let [first, _, _] = [app.sign_in("ada@example.com").await, app.sign_in("ada@example.com").await, app.sign_in("ada@example.com").await];
    let mut browser = Browser::of(&app, &ada);
    let listed = items(&app, &first, "/api/v1/auth/sessions").await;
    let one = listed.iter().find(|session| session["is_current_session"] == true).unwrap();
    browser.press(&format!("sessions.end:{}", id(one)), "The session has ended.").await;
    assert_eq!(items(&app, &ada, "/api/v1/auth/sessions").await.len(), 3);
    let page = browser.press("sessions.end-others", "All other sessions have ended.").await;
    assert_lacks(&page, "sessions.end-others");
    let left = items(&app, &ada, "/api/v1/auth/sessions").await;
    assert_eq!((left.len(), &left[0]["is_current_session"]), (1, &json!(true)));
    browser.refused(&[("action", &format!("sessions.end:{}", id(&left[0])))], "Sign out instead.").await;
}

#[tokio::test]
async fn teams_are_joined_created_and_left() {
    let app = TestApp::start().await;
    let ada = app.sign_in_by_mail("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    assert_lacks(&browser.open().await, "id=\"teams\"");
    let crew = team(&app, "Crew", None).await;
    invite(&app, &crew, "ada@example.com").await;
    let invitation = items(&app, &ada, "/api/v1/team-invitations?user_id=me").await.remove(0);
    assert_has(&browser.open().await, "Invitation to ada@example.com");
    let page = browser.press(&format!("teams.accept:{}", id(&invitation)), "You have joined the team.").await;
    assert_lacks(&page, "Invitation to");
    assert_has(&page, "<bdi>Crew</bdi>");
    browser.refused(&[("action", "teams.create"), ("team_name", "Own")], "Teams cannot be created here.").await;
    app.configure(json!({ "config": { "client_team_creation_enabled": true } })).await;
    assert_has(&browser.change(&[("action", "teams.create"), ("team_name", " Own ")], "The team is created.").await, "<bdi>Own</bdi>");
    browser.press(&format!("teams.leave:{crew}"), "You have left the team.").await;
    assert_eq!(items(&app, &ada, "/api/v1/teams?user_id=me").await[0]["display_name"], "Own");
}

#[tokio::test]
async fn a_key_is_shown_once_and_revoked() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    assert_lacks(&browser.open().await, "id=\"keys\"");
    app.configure(json!({ "config": { "allow_user_api_keys": true } })).await;
    let created = browser.post(&[("action", "keys.create"), ("key_name", "Backup"), ("key_days", "30")]).await;
    assert_eq!(created.status(), 200, "{}", created.text());
    let key = created.text().split("<code>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let check = json!({ "api_key": key });
    let checked = app.server().post("/api/v1/user-api-keys/check", check.clone()).await;
    assert_eq!(checked.json()["description"], "Backup", "{}", checked.text());
    let expires = checked.json()["expires_at_millis"].as_i64().unwrap();
    assert_eq!(expires - app.now().as_millisecond(), 30 * 86_400_000);
    let page = browser.open().await;
    assert_lacks(&page, &key);
    assert_has(&page, &format!("…{}", &key[key.len() - 4..]));
    browser.press(&format!("keys.revoke:{}", checked.json()["id"].as_str().unwrap()), "The key no longer works.").await;
    assert_ne!(app.server().post("/api/v1/user-api-keys/check", check).await.status(), 200);
    assert_lacks(&browser.open().await, "<bdi>Backup</bdi>");
    browser.refused(&[("action", "keys.create"), ("key_name", " ")], "This name is empty").await;
}

#[tokio::test]
async fn activity_is_told_in_words() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..12 {
        app.sign_in("ada@example.com").await;
    }
    app.process_trail(&app.carrying_sessions()).await.unwrap();
    let page = Browser::of(&app, &ada).open().await;
    let section = page.split("id=\"activity\"").nth(1).unwrap().split("</section>").next().unwrap();
    assert_eq!(section.matches("Signed in").count(), 10, "{section}");
    assert_has(section, "just now");
}

#[tokio::test]
async fn the_data_is_a_file() {
    let app = TestApp::start().await;
    app.offer_passkeys().await;
    let ada = app.sign_up("ada@example.com").await;
    app.add_passkey(&ada, 1).await;
    let answer = Browser::of(&app, &ada).post(&[("action", "data.download")]).await;
    assert_eq!((answer.status(), answer.header("content-type")), (200, Some("application/json")));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"account.json\""));
    let data = answer.json();
    assert_eq!(data["profile"]["primary_email"], "ada@example.com");
    for list in ["contact_channels", "sessions", "passkeys"] {
        assert_eq!(data[list].as_array().unwrap().len(), 1, "{list}");
    }
    for list in ["authenticators", "remembered_devices", "provider_accounts", "teams", "team_invitations", "activity"] {
        assert!(data[list].is_array(), "{list}");
    }
    for secret in [ada.refresh_token.as_str(), "public_key", "server_metadata\":{"] {
        assert_lacks(answer.text(), secret);
    }
}

#[tokio::test]
async fn the_account_is_deleted_once_the_address_is_typed() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let mut browser = Browser::of(&app, &ada);
    assert_lacks(&browser.open().await, "id=\"deletion\"");
    let form = |typed| [("action", "deletion.delete"), ("typed", typed)];
    browser.refused(&form("ada@example.com"), "Accounts cannot be deleted here.").await;
    app.configure(json!({ "config": { "client_user_deletion_enabled": true } })).await;
    for mistyped in ["", "eve@example.com", "delete me"] {
        browser.refused(&form(mistyped), "Type ada@example.com to confirm that").await;
    }
    let deleted = browser.post(&form(" Ada@Example.com ")).await;
    assert_eq!(deleted.status(), 200, "{}", deleted.text());
    assert_has(deleted.text(), "Your account is deleted");
    assert_eq!(app.server().get(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 404);
    assert_eq!(browser.get(&browser.path.clone()).await.status(), 303);

    let bob = app.sign_up("bob@example.com").await;
    let mut german = Browser::of(&app, &bob);
    german.path.push_str("&ui_locales=de");
    assert_has(german.post(&form("löschen")).await.text(), "Dein Konto ist gelöscht");
}
