//! Inviting users by email, and accepting invitations.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::TestApp;

use super::{assert_error, ids, join, members_of, team};

pub(super) const INVITATIONS: &str = "/api/v1/team-invitations";

/// Invites a user with server access, and returns the invitation's id and the emailed code.
pub(crate) async fn invite(app: &TestApp, team: &str, email: &str) -> (String, String) {
    let body = json!({ "team_id": team, "email": email, "callback_url": "http://localhost:3000/join" });
    let answer = app.server().post(&format!("{INVITATIONS}/send-code"), body).await;
    assert_eq!((answer.status(), &answer.json()["success"]), (200, &json!(true)), "{}", answer.text());
    (answer.json()["id"].as_str().unwrap().to_owned(), app.last_mail(email).await.code())
}

#[tokio::test]
async fn an_invited_user_sees_the_invitation_and_joins() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let id = team(&app, "Engines & Co", Some(&ada)).await;
    let body = json!({ "team_id": id, "email": "Bob@Example.com", "callback_url": "http://localhost:3000/join?x=1" });
    let sent = app.signed_in(&ada).post(&format!("{INVITATIONS}/send-code"), body).await;
    assert_eq!(sent.status(), 200, "{}", sent.text());
    let mail = app.last_mail("bob@example.com").await;
    assert!(mail.0.subject.contains("Engines & Co"), "{}", mail.0.subject);
    let code = mail.code();

    let bob = app.sign_in_by_mail("bob@example.com").await;
    let caller = app.signed_in(&bob);
    let listed = caller.get(&format!("{INVITATIONS}?user_id=me")).await.json()["items"].clone();
    assert_eq!(app.server().get(&format!("{INVITATIONS}?user_id={}", bob.user_id)).await.json()["items"], listed);
    let expires = (app.now() + SignedDuration::from_hours(7 * 24)).as_millisecond();
    let expected = json!([{
        "id": sent.json()["id"], "team_id": id, "team_display_name": "Engines & Co", "recipient_email": "bob@example.com",
        "expires_at_millis": expires,
    }]);
    assert_eq!(listed, expected);
    assert_eq!(app.signed_in(&ada).get(&format!("{INVITATIONS}?team_id={id}")).await.json()["items"], expected);
    let check = caller.post(&format!("{INVITATIONS}/accept/check-code"), json!({ "code": code })).await;
    assert_eq!((check.status(), check.json()), (200, json!({ "is_code_valid": true })));
    let details = caller.post(&format!("{INVITATIONS}/accept/details"), json!({ "code": code })).await;
    assert_eq!((details.status(), details.json()), (200, json!({ "team_id": id, "team_display_name": "Engines & Co" })));

    let accepted = caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_eq!((accepted.status(), accepted.json()), (200, json!({})), "{}", accepted.text());
    assert_eq!(ids(&caller.get("/api/v1/teams?user_id=me").await), std::slice::from_ref(&id));
    let permissions = caller.get(&format!("/api/v1/team-permissions?team_id={id}&user_id=me")).await;
    assert_eq!(ids(&permissions), ["team_member"]);
    assert_eq!(caller.get(&format!("{INVITATIONS}?user_id=me")).await.json()["items"], json!([]));
    assert_eq!(app.server().get(&format!("{INVITATIONS}?team_id={id}")).await.json()["items"], json!([]));
    let again = caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_error(&again, 409, "VERIFICATION_CODE_ALREADY_USED");
}

#[tokio::test]
async fn an_invitation_can_be_accepted_from_the_list() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let (invitation, code) = invite(&app, &id, "bob@example.com").await;
    let path = format!("{INVITATIONS}/{invitation}/accept?user_id=me");
    assert_eq!(app.signed_in(&bob).post(&path, json!({})).await.status(), 200);
    assert_eq!(members_of(&app, &id).await, std::slice::from_ref(&bob.user_id));
    assert_error(&app.signed_in(&bob).post(&path, json!({})).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    let by_code = app.signed_in(&bob).post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_error(&by_code, 409, "VERIFICATION_CODE_ALREADY_USED");

    let other = team(&app, "Looms", None).await;
    let (invitation, _) = invite(&app, &other, "bob@example.com").await;
    let by_server = app.server().post(&format!("{INVITATIONS}/{invitation}/accept?user_id={}", bob.user_id), json!({})).await;
    assert_eq!(by_server.status(), 200, "{}", by_server.text());
    assert_eq!(members_of(&app, &other).await, [bob.user_id]);
}

#[tokio::test]
async fn accepting_as_a_member_changes_nothing() {
    let app = TestApp::start().await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let id = team(&app, "Engines", Some(&bob)).await;
    let (_, code) = invite(&app, &id, "bob@example.com").await;
    let accepted = app.signed_in(&bob).post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_eq!(accepted.status(), 200, "{}", accepted.text());
    let permissions = app.server().get(&format!("/api/v1/team-permissions?team_id={id}")).await;
    assert_eq!(ids(&permissions), ["team_admin"]);
}

#[tokio::test]
async fn an_invitation_expires_after_seven_days() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    app.sign_in_by_mail("bob@example.com").await;
    let (invitation, code) = invite(&app, &id, "bob@example.com").await;
    app.advance(SignedDuration::from_hours(7 * 24) - SignedDuration::from_secs(1));
    let bob = app.sign_in_by_mail("bob@example.com").await;
    assert_eq!(ids(&app.signed_in(&bob).get(&format!("{INVITATIONS}?user_id=me")).await), std::slice::from_ref(&invitation));
    app.advance(SignedDuration::from_secs(1));
    let accept = app.signed_in(&bob).post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_error(&accept, 400, "VERIFICATION_CODE_EXPIRED");
    assert!(ids(&app.signed_in(&bob).get(&format!("{INVITATIONS}?user_id=me")).await).is_empty());
    let by_id = app.signed_in(&bob).post(&format!("{INVITATIONS}/{invitation}/accept?user_id=me"), json!({})).await;
    assert_error(&by_id, 404, "VERIFICATION_CODE_NOT_FOUND");
}

#[tokio::test]
async fn an_invitation_can_be_revoked_with_the_permission_to_remove_members() {
    let app = TestApp::start().await;
    let (ada, mem) = (app.sign_up("ada@example.com").await, app.sign_up("mem@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &mem.user_id).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let (invitation, code) = invite(&app, &id, "bob@example.com").await;
    let path = format!("{INVITATIONS}/{invitation}?team_id={id}");
    assert_error(&app.signed_in(&mem).delete(&path).await, 401, "TEAM_PERMISSION_REQUIRED");
    assert_error(&app.signed_in(&bob).delete(&path).await, 401, "TEAM_PERMISSION_REQUIRED");
    let other = team(&app, "Looms", Some(&bob)).await;
    let elsewhere = app.signed_in(&bob).delete(&format!("{INVITATIONS}/{invitation}?team_id={other}")).await;
    assert_error(&elsewhere, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(app.signed_in(&ada).delete(&path).await.status(), 200);
    assert_error(&app.signed_in(&ada).delete(&path).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    let accept = app.signed_in(&bob).post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_error(&accept, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(app.server().get(&format!("{INVITATIONS}?team_id={id}")).await.json()["items"], Value::Array(Vec::new()));
}
