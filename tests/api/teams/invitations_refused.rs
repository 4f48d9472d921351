//! Who may not invite, and who may not accept.

use serde_json::json;
use support::TestApp;

use super::invitations::{INVITATIONS, invite};
use super::{assert_error, ids, join, members_of, team};

#[tokio::test]
async fn a_client_invites_by_permission_to_a_page_that_the_project_trusts() {
    let app = TestApp::start().await;
    let (ada, bob, eve) =
        (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await, app.sign_up("eve@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    app.server().delete(&format!("/api/v1/team-permissions/{id}/{}/team_member", bob.user_id)).await;
    let body = |callback: &str| json!({ "team_id": id, "email": "new@example.com", "callback_url": callback });
    let (path, trusted) = (format!("{INVITATIONS}/send-code"), "http://localhost:3000/join");
    for user in [&bob, &eve] {
        let details = assert_error(&app.signed_in(user).post(&path, body(trusted)).await, 401, "TEAM_PERMISSION_REQUIRED");
        assert_eq!(details["permission_id"], "$invite_members");
        assert_eq!(app.signed_in(user).get(&format!("{INVITATIONS}?team_id={id}")).await.status(), 401);
    }
    assert_error(&app.client().post(&path, body(trusted)).await, 401, "USER_AUTHENTICATION_REQUIRED");
    assert_error(&app.signed_in(&ada).post(&path, body("https://evil.example/")).await, 400, "REDIRECT_URL_NOT_WHITELISTED");
    assert!(app.mails("new@example.com").await.is_empty());
    let nowhere = json!({ "team_id": "7f3c2a4e-3f5b-4d0e-9a56-0f1f6c8f3d21", "email": "new@example.com", "callback_url": trusted });
    assert_error(&app.server().post(&path, nowhere).await, 404, "TEAM_NOT_FOUND");
}

#[tokio::test]
async fn only_a_user_with_the_invited_address_verified_accepts() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let (eve, bob) = (app.sign_in_by_mail("eve@example.com").await, app.sign_up("bob@example.com").await);
    let (invitation, code) = invite(&app, &id, "bob@example.com").await;
    let by_id = format!("{INVITATIONS}/{invitation}/accept?user_id=me");
    // The address of one is another's, and that of the other is not verified.
    for user in [&eve, &bob] {
        let caller = app.signed_in(user);
        assert_error(&caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await, 403, "TEAM_INVITATION_EMAIL_MISMATCH");
        assert_error(&caller.post(&by_id, json!({})).await, 403, "TEAM_INVITATION_EMAIL_MISMATCH");
        assert!(ids(&caller.get(&format!("{INVITATIONS}?user_id=me")).await).is_empty());
    }
    let nobody = app.client().post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_error(&nobody, 401, "USER_AUTHENTICATION_REQUIRED");
    let of_bob = format!("{INVITATIONS}/{invitation}/accept?user_id={}", bob.user_id);
    assert_error(&app.signed_in(&eve).post(&of_bob, json!({})).await, 403, "FORBIDDEN");
    assert_error(&app.signed_in(&eve).get(&format!("{INVITATIONS}?user_id={}", bob.user_id)).await, 403, "FORBIDDEN");
    assert!(members_of(&app, &id).await.is_empty());
    app.server().patch(&format!("/api/v1/users/{}", bob.user_id), json!({ "primary_email_verified": true })).await;
    assert_eq!(app.signed_in(&bob).post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await.status(), 200);
}

#[tokio::test]
async fn a_restricted_user_does_not_accept() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let (_, code) = invite(&app, &id, "bob@example.com").await;
    app.server().patch(&format!("/api/v1/users/{}", bob.user_id), json!({ "restricted_by_admin": true })).await;
    let caller = app.signed_in(&bob).with("x-stack-allow-restricted-user", "true");
    let refused = caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    let details = assert_error(&refused, 403, "TEAM_INVITATION_RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(details, json!({ "restricted_reason": { "type": "restricted_by_administrator" } }));
    assert!(members_of(&app, &id).await.is_empty());
}

#[tokio::test]
async fn an_invitation_to_a_team_that_is_gone_leads_nowhere() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let (invitation, code) = invite(&app, &id, "bob@example.com").await;
    assert_eq!(app.server().delete(&format!("/api/v1/teams/{id}")).await.status(), 200);
    let caller = app.signed_in(&bob);
    assert!(ids(&caller.get(&format!("{INVITATIONS}?user_id=me")).await).is_empty());
    assert_error(&caller.post(&format!("{INVITATIONS}/accept/details"), json!({ "code": code })).await, 404, "TEAM_NOT_FOUND");
    assert_error(&caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await, 404, "TEAM_NOT_FOUND");
    let by_id = caller.post(&format!("{INVITATIONS}/{invitation}/accept?user_id=me"), json!({})).await;
    assert_error(&by_id, 404, "TEAM_NOT_FOUND");
}

#[tokio::test]
async fn a_code_is_guessed_at_twenty_times_and_one_of_another_purpose_is_none() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let (_, code) = invite(&app, &id, "bob@example.com").await;
    let caller = app.signed_in(&bob);
    let sign_in = app.client().post("/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
    assert_error(&sign_in, 404, "VERIFICATION_CODE_NOT_FOUND");
    let other = app.sign_in_code("bob@example.com").await;
    assert_error(&caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": other })).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    let wrong = format!("000000{}", &code[6..]);
    for _ in 0..20 {
        let guess = caller.post(&format!("{INVITATIONS}/accept/check-code"), json!({ "code": wrong })).await;
        assert_error(&guess, 404, "VERIFICATION_CODE_NOT_FOUND");
    }
    let right = caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    assert_error(&right, 400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
}
