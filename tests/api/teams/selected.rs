//! The team that a user has selected.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use support::{SignedInUser, TestApp};

use super::{TEAMS, assert_error, join, membership, team};

const ME: &str = "/api/v1/users/me";

/// The selected team in a new access token.
async fn claim(app: &TestApp, user: &SignedInUser) -> Value {
    let caller = app.client().with("x-stack-refresh-token", &user.refresh_token);
    let token = caller.request("POST", "/api/v1/auth/sessions/current/refresh").send().await.json()["access_token"].clone();
    let payload = URL_SAFE_NO_PAD.decode(token.as_str().unwrap().split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice::<Value>(&payload).unwrap()["selected_team_id"].clone()
}

#[tokio::test]
async fn a_selected_team_appears_in_reads_and_tokens() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (first, second) = (team(&app, "Engines", Some(&ada)).await, team(&app, "Looms", Some(&ada)).await);
    let stranger = team(&app, "Cards", None).await;
    let caller = app.signed_in(&ada);
    for id in [&first, &second] {
        let answer = caller.patch(ME, json!({ "selected_team_id": id })).await;
        assert_eq!((answer.status(), &answer.json()["selected_team_id"]), (200, &json!(id)), "{}", answer.text());
        assert_eq!(answer.json()["selected_team"]["id"], json!(id));
        assert_eq!(caller.get(ME).await.json()["selected_team"], answer.json()["selected_team"]);
        assert_eq!(claim(&app, &ada).await, json!(id));
    }
    let details = assert_error(&caller.patch(ME, json!({ "selected_team_id": stranger })).await, 404, "TEAM_MEMBERSHIP_NOT_FOUND");
    assert_eq!(details, json!({ "team_id": stranger, "user_id": ada.user_id }));
    let server = app.server().get(&format!("/api/v1/users/{}", ada.user_id)).await.json();
    assert_eq!(server["selected_team"]["server_metadata"], Value::Null);
    assert_eq!(server["selected_team_id"], json!(second));
    assert_eq!(app.server().get("/api/v1/users").await.json()["items"][0]["selected_team"]["display_name"], "Looms");
    assert_eq!(caller.patch(ME, json!({ "selected_team_id": null })).await.json()["selected_team"], Value::Null);
    assert_eq!(claim(&app, &ada).await, Value::Null);
}

#[tokio::test]
async fn a_team_is_deselected_when_the_membership_ends() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    for ending in ["leaves", "is removed", "team is deleted"] {
        let id = team(&app, "Engines", Some(&ada)).await;
        join(&app, &id, &bob.user_id).await;
        let path = format!("/api/v1/users/{}", bob.user_id);
        assert_eq!(app.server().patch(&path, json!({ "selected_team_id": id })).await.json()["selected_team_id"], json!(id));
        let answer = match ending {
            "leaves" => app.signed_in(&bob).delete(&membership(&id, "me")).await,
            "is removed" => app.signed_in(&ada).delete(&membership(&id, &bob.user_id)).await,
            _ => app.signed_in(&ada).delete(&format!("{TEAMS}/{id}")).await,
        };
        assert_eq!(answer.status(), 200, "{ending}: {}", answer.text());
        assert_eq!(app.server().get(&path).await.json()["selected_team_id"], Value::Null, "{ending}");
        assert_eq!(claim(&app, &bob).await, Value::Null, "{ending}");
    }
}
