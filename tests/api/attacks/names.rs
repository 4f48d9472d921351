//! Names with hidden characters or reversed text, which could look like another name or an address.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Answer, TestApp};

use super::user;
use crate::auth::assert_error;
use crate::auth::oauth_callback::{self, sign_in};

/// A direction override, an isolate, a direction mark, a line separator, a zero-width space, a
/// zero-width joiner, a word joiner, a variation selector and a tag character.
const HIDDEN: [&str; 9] = ["\u{202e}", "\u{2066}", "\u{200f}", "\u{2028}", "\u{200b}", "\u{200d}", "\u{2060}", "\u{fe0f}", "\u{e0041}"];
/// Names that need joiners and selectors to be spelled correctly.
const SPELLED: [&str; 4] = ["می\u{200c}خواهم", "മോഹന\u{d4d}\u{200d}", "👩\u{200d}🔬 Ada", "葛\u{e0100}城"];

/// Sends this name in each of the requests below, and returns the responses.
async fn named(app: &TestApp, world: &World, name: &str) -> Vec<(&'static str, Answer)> {
    let (own, server, admin) = (app.signed_in(&world.ada), app.server(), app.admin());
    let body = json!({ "display_name": name });
    let set = |key: &str, value: Value| json!({ "config_override_string": json!({ key: value }).to_string() });
    let rule = json!({ "displayName": name, "condition": "email == 'a@b.c'", "action": { "type": "allow" } });
    let sender = json!({ "isShared": false, "senderName": name, "senderEmail": "notes@example.com" });
    let keys = json!({
        "description": name, "expires_at_millis": (app.now() + SignedDuration::from_hours(1)).as_millisecond(),
        "has_publishable_client_key": true, "has_secret_server_key": false, "has_super_secret_admin_key": false,
    });
    let config = "/api/v1/internal/config/override/environment";
    vec![
        ("own user", own.patch("/api/v1/users/me", body.clone()).await),
        ("user", server.patch(&format!("/api/v1/users/{}", world.ada.user_id), body.clone()).await),
        ("new user", server.post("/api/v1/users", body.clone()).await),
        ("team", own.patch(&format!("/api/v1/teams/{}", world.team), body.clone()).await),
        ("new team", server.post("/api/v1/teams", body.clone()).await),
        ("member", own.patch(&format!("/api/v1/team-member-profiles/{}/me", world.team), body.clone()).await),
        ("project", admin.patch("/api/v1/internal/projects/current", body.clone()).await),
        ("template", admin.post("/api/v1/internal/email-templates", body.clone()).await),
        ("theme", admin.post("/api/v1/internal/email-themes", body.clone()).await),
        ("draft", admin.post("/api/v1/internal/email-drafts", body).await),
        ("keys", admin.post("/api/v1/internal/api-keys", keys).await),
        ("rule", admin.patch(config, set("auth.signUpRules.a", rule)).await),
        ("sender", admin.patch(config, set("emails.server", sender)).await),
    ]
}

struct World {
    ada: support::SignedInUser,
    team: String,
}

async fn start() -> (TestApp, World) {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines", "creator_user_id": ada.user_id })).await;
    let team = team.json()["id"].as_str().unwrap().to_owned();
    (app, World { ada, team })
}

#[tokio::test]
async fn a_name_with_hidden_characters_is_rejected_everywhere() {
    let (app, world) = start().await;
    let before = app.table();
    for hidden in HIDDEN {
        for (what, answer) in named(&app, &world, &format!("Ad{hidden}a")).await {
            assert_error(&answer, 400, "SCHEMA_ERROR");
            let message = answer.text();
            assert!(message.contains("must be one line of") && message.contains("without hidden characters"), "{what}: {message}");
        }
    }
    let changed: Vec<_> = app.table().into_iter().filter(|(key, item)| before.get(key) != Some(item)).map(|((pk, _), _)| pk).collect();
    assert!(changed.iter().all(|pk| pk.starts_with("L#")), "{changed:?}");
}

#[tokio::test]
async fn a_name_with_legitimate_joiners_and_selectors_is_accepted_unchanged() {
    let (app, world) = start().await;
    for name in SPELLED {
        for (what, answer) in named(&app, &world, name).await {
            assert!([200, 201].contains(&answer.status()), "{what}: {}", answer.text());
        }
        assert_eq!(user(&app, &world.ada.user_id).await["display_name"], name);
        assert_eq!(app.server().get(&format!("/api/v1/teams/{}", world.team)).await.json()["display_name"], name);
    }
}

#[tokio::test]
async fn hidden_characters_in_an_imported_name_are_removed() {
    let app = TestApp::start().await;
    let import = async |name: &str| {
        let hash = bcrypt::hash("correct horse battery", 4).unwrap();
        app.server().post("/api/v1/users", json!({ "display_name": name, "password_hash": hash })).await
    };
    for hidden in HIDDEN {
        let imported = import(&format!("Ad{hidden}a")).await;
        assert_eq!((imported.status(), &imported.json()["display_name"]), (201, &json!("Ada")), "{}", imported.text());
        assert_eq!(user(&app, imported.json()["id"].as_str().unwrap()).await["display_name"], "Ada");
    }
    assert_eq!(import("\u{202e}\u{2066}").await.json()["display_name"], Value::Null);
    assert_eq!(import(SPELLED[0]).await.json()["display_name"], SPELLED[0]);
    assert_error(&import(&"é".repeat(257)).await, 400, "SCHEMA_ERROR");
}

#[tokio::test]
async fn hidden_characters_in_a_provider_s_name_are_removed() {
    let (app, provider) = oauth_callback::start().await;
    for (number, hidden) in HIDDEN.iter().enumerate() {
        let account = json!({ "sub": format!("acme|{number}"), "name": format!("Ad{hidden}a") });
        assert_eq!(sign_in(&app, &provider, account).await.1["display_name"], "Ada", "{hidden:?}");
    }
}
