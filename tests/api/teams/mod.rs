//! Teams, their members, their permissions and their invitations.

mod anonymous;
mod definitions;
mod deletion;
mod invitation_senders;
pub(crate) mod invitations;
mod invitations_refused;
mod memberships;
mod permissions;
mod personal;
mod profiles;
mod races;
mod selected;
mod team;
mod team_list;

use serde_json::{Value, json};
use support::{Answer, SignedInUser, TestApp};

const TEAMS: &str = "/api/v1/teams";

/// Creates a team with server access. If there is a `creator`, this user becomes the first member.
pub(crate) async fn team(app: &TestApp, name: &str, creator: Option<&SignedInUser>) -> String {
    let body = json!({ "display_name": name, "creator_user_id": creator.map(|user| &user.user_id) });
    let body = if creator.is_some() { body } else { json!({ "display_name": name }) };
    let answer = app.server().post(TEAMS, body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
    answer.json()["id"].as_str().unwrap().to_owned()
}

fn membership(team: &str, user: &str) -> String {
    format!("/api/v1/team-memberships/{team}/{user}")
}

/// Adds a user to a team, with server access.
pub(crate) async fn join(app: &TestApp, team: &str, user: &str) {
    let answer = app.server().post(&membership(team, user), json!({})).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
}

fn ids(answer: &Answer) -> Vec<String> {
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

/// A user's team ids.
async fn teams_of(app: &TestApp, user: &str) -> Vec<String> {
    ids(&app.server().get(&format!("{TEAMS}?user_id={user}")).await)
}

/// A team's member ids.
async fn members_of(app: &TestApp, team: &str) -> Vec<String> {
    let answer = app.server().get(&format!("/api/v1/team-member-profiles?team_id={team}")).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    answer.json()["items"].as_array().unwrap().iter().map(|item| item["user_id"].as_str().unwrap().to_owned()).collect()
}

/// Grants a permission in a team, with server access.
async fn grant(app: &TestApp, team: &str, user: &str, permission: &str) {
    let answer = app.server().post(&format!("/api/v1/team-permissions/{team}/{user}/{permission}"), json!({})).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
}

/// Defines a permission, with admin access.
async fn define(app: &TestApp, scope: &str, id: &str, contains: &[&str]) {
    let body = json!({ "id": id, "contained_permission_ids": contains });
    let answer = app.admin().post(&format!("/api/v1/{scope}-permission-definitions"), body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
}

/// Asserts an error and returns its details.
#[track_caller]
fn assert_error(answer: &Answer, status: u16, code: &str) -> Value {
    assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{}", answer.text());
    answer.json()["details"].clone()
}
