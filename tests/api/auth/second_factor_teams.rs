//! The record of the user's teams that require a second factor, while teams and factors change.

use serde_json::{Value, json};
use support::{SignedInUser, TestApp};
use tokio::runtime::Handle;
use tokio::task::block_in_place;

use super::mfa_sign_in::{attempt, now_code, sign_in, user_with_app};
use super::second_factor_required::{reason, reason_of, refreshed, require};

const ADA: &str = "ada@example.com";

async fn new_team(app: &TestApp) -> String {
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines" })).await.json();
    team["id"].as_str().unwrap().to_owned()
}

fn membership(team: &str, user: &SignedInUser) -> String {
    format!("/api/v1/team-memberships/{team}/{}", user.user_id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_team_joined_while_a_token_is_made_stays_noted() {
    for way in ["refresh", "sign-in"] {
        let app = TestApp::start().await;
        let ada = app.sign_up(ADA).await;
        let (left, joined) = (new_team(&app).await, new_team(&app).await);
        require(&app, json!({ "required_of_teams": [left, joined] })).await;
        assert_eq!(app.server().post(&membership(&left, &ada), json!({})).await.status(), 201);
        assert_eq!(app.server().delete(&membership(&left, &ada)).await.status(), 200);
        assert_eq!(reason_of(&app, &ada).await, reason(), "the team that was left is still noted");

        let (server, path, handle) = (app.server(), membership(&joined, &ada), Handle::current());
        let join = move || {
            let answer = block_in_place(|| handle.block_on(server.post(&path, json!({}))));
            assert_eq!(answer.status(), 201);
        };
        app.recorder.after_call("BatchGetItem", format!("TEAM#{joined}"), join);
        match way {
            "refresh" => drop(refreshed(&app, &ada).await),
            _ => drop(app.sign_in(ADA).await),
        }
        assert!(app.recorder.has_acted(), "{way}");
        assert_eq!(reason_of(&app, &ada).await, reason(), "{way}");
        assert_eq!(refreshed(&app, &ada).await["restricted_reason"], reason(), "{way}");
        assert_eq!(app.server().delete(&membership(&joined, &ada)).await.status(), 200);
        assert_eq!(refreshed(&app, &ada).await["restricted_reason"], Value::Null, "{way}");
    }
}

#[tokio::test]
async fn removing_the_second_factor_restricts_the_members_of_a_team_at_once() {
    for way in ["refresh", "sign-in"] {
        let app = TestApp::start().await;
        let ada = user_with_app(&app, ADA).await;
        let team = new_team(&app).await;
        assert_eq!(app.server().post(&membership(&team, &ada), json!({})).await.status(), 201);
        require(&app, json!({ "required_of_teams": [team] })).await;
        let ada = match way {
            "refresh" => {
                assert_eq!(refreshed(&app, &ada).await["is_restricted"], false);
                ada
            }
            _ => SignedInUser::of(ADA, &sign_in(&app, &attempt(&app, ADA).await, &now_code(&app)).await.json()),
        };
        assert_eq!(reason_of(&app, &ada).await, Value::Null, "{way}");
        let removed = app.signed_in(&ada).patch("/api/v1/users/me", json!({ "totp_secret_base64": null })).await;
        assert_eq!(removed.json()["restricted_reason"], reason(), "{way}: {}", removed.text());
        assert_eq!(reason_of(&app, &ada).await, reason(), "{way}");
    }
}
