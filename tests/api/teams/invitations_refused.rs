//! Invitations that must not be sent or accepted.

use serde_json::json;
use support::TestApp;

use super::invitations::{INVITATIONS, invite};
use super::{assert_error, grant, ids, join, members_of, team};

#[tokio::test]
async fn a_client_needs_permission_and_a_trusted_page_to_invite() {
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
async fn only_a_user_with_the_verified_invited_address_can_accept() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let (eve, bob) = (app.sign_in_by_mail("eve@example.com").await, app.sign_up("bob@example.com").await);
    let (invitation, code) = invite(&app, &id, "bob@example.com").await;
    let by_id = format!("{INVITATIONS}/{invitation}/accept?user_id=me");
    // One user has a different address, and the other has not verified the invited address.
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
async fn a_restricted_user_cannot_accept() {
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
async fn an_invitation_to_a_deleted_team_is_invalid() {
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
async fn a_code_allows_twenty_attempts_and_works_only_for_its_purpose() {
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

#[tokio::test]
async fn a_stranger_with_the_link_cannot_exhaust_its_attempts() {
    let app = TestApp::start().await;
    let id = team(&app, "Engines", None).await;
    let (eve, bob) = (app.sign_in_by_mail("eve@example.com").await, app.sign_in_by_mail("bob@example.com").await);
    let (_, code) = invite(&app, &id, "bob@example.com").await;
    let accept = format!("{INVITATIONS}/accept");
    let other_start = if code.starts_with("000000") { "111111" } else { "000000" };
    let wrong = format!("{other_start}{}", &code[6..]);
    for attempt in 0..30 {
        let code = if attempt % 2 == 0 { &code } else { &wrong };
        app.signed_in(&eve).post(&accept, json!({ "code": code })).await;
        app.client().post(&format!("{accept}/check-code"), json!({ "code": code })).await;
    }
    let exhausted = app.signed_in(&eve).post(&accept, json!({ "code": code })).await;
    assert_error(&exhausted, 400, "VERIFICATION_CODE_MAX_ATTEMPTS_REACHED");
    let details = app.signed_in(&bob).post(&format!("{accept}/details"), json!({ "code": code })).await;
    assert_eq!((details.status(), &details.json()["team_display_name"]), (200, &json!("Engines")));
    assert_eq!(app.signed_in(&bob).post(&accept, json!({ "code": code })).await.status(), 200);
}

#[tokio::test]
async fn a_project_can_disable_invitations_by_members() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    let body = |email: &str| json!({ "team_id": id, "email": email, "callback_url": "http://localhost:3000/join" });
    let path = format!("{INVITATIONS}/send-code");
    assert_eq!(app.signed_in(&bob).post(&path, body("one@example.com")).await.status(), 200, "members invite by default");
    let permission = "/api/v1/team-permission-definitions/team_member";
    let changed = app.admin().patch(permission, json!({ "contained_permission_ids": ["$read_members"] })).await;
    assert_eq!(changed.status(), 200, "{}", changed.text());
    let refused = app.signed_in(&bob).post(&path, body("two@example.com")).await;
    assert_eq!(assert_error(&refused, 401, "TEAM_PERMISSION_REQUIRED")["permission_id"], "$invite_members");
    assert_eq!(app.signed_in(&ada).post(&path, body("three@example.com")).await.status(), 200, "the creator of the team can still invite");
}

#[tokio::test]
async fn default_member_permissions_do_not_override_disabled_invitations() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await, app.sign_up("bob@example.com").await);
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &bob.user_id).await;
    let (waiting, _) = invite(&app, &id, "waiting@example.com").await;
    let (path, listed) = (format!("{INVITATIONS}/send-code"), format!("{INVITATIONS}?team_id={id}"));
    let body = |email: &str| json!({ "team_id": id, "email": email, "callback_url": "http://localhost:3000/join" });
    let held = async || ids(&app.signed_in(&bob).get(&format!("/api/v1/team-permissions?team_id={id}&user_id=me&recursive=true")).await);
    assert!(held().await.contains(&"$invite_members".to_owned()), "members may invite by default");

    let setting = "/api/v1/internal/config/override/branch";
    let off = json!({ "config_override_string": json!({ "teams.allowMemberInvitations": false }).to_string() });
    assert_eq!(app.admin().patch(setting, off).await.status(), 200);
    let refused = app.signed_in(&bob).post(&path, body("one@example.com")).await;
    assert_eq!(assert_error(&refused, 401, "TEAM_PERMISSION_REQUIRED")["permission_id"], "$invite_members");
    assert_eq!(app.signed_in(&bob).get(&listed).await.status(), 401, "members cannot list the invitations either");
    assert!(app.mails("one@example.com").await.is_empty());
    assert_eq!(held().await, ["$read_members", "team_member"], "the permission is not listed either");
    // Users with more permissions can invite.
    assert_eq!(app.signed_in(&ada).post(&path, body("two@example.com")).await.status(), 200, "the creator of the team can invite");
    assert_eq!(ids(&app.signed_in(&ada).get(&listed).await).len(), 2);
    assert!(ids(&app.signed_in(&ada).get(&listed).await).contains(&waiting), "earlier invitations stay");
    grant(&app, &id, &bob.user_id, "$invite_members").await;
    assert_eq!(app.signed_in(&bob).post(&path, body("three@example.com")).await.status(), 200, "the permission lets a member invite");
    app.server().delete(&format!("/api/v1/team-permissions/{id}/{}/$invite_members", bob.user_id)).await;
    assert_eq!(app.signed_in(&bob).post(&path, body("four@example.com")).await.status(), 401);

    app.configure(json!({ "config": { "member_invitations_enabled": true } })).await;
    assert_eq!(app.signed_in(&bob).post(&path, body("five@example.com")).await.status(), 200);
}

#[tokio::test]
async fn a_team_name_that_is_a_url_does_not_become_a_link_in_invitations() {
    let app = TestApp::start().await;
    let id = team(&app, "https://evil.example/login", None).await;
    invite(&app, &id, "bob@example.com").await;
    let mail = app.last_mail("bob@example.com").await.0;
    for part in [&mail.subject, &mail.html, &mail.text] {
        assert!(part.contains("evil.\u{2060}example") && !part.contains("evil.example"), "{part}");
    }
}

#[tokio::test]
async fn a_session_that_lacks_a_required_factor_cannot_accept() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "passkey_enabled": true, "passkey_replaces_second_factor": true } })).await;
    let id = team(&app, "Engines", None).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    app.add_passkey(&bob, 1).await;
    app.configure(json!({ "config": { "second_factor": { "required_of_everyone": true } } })).await;
    let (invitation, code) = invite(&app, &id, "bob@example.com").await;
    let by_mail = app.sign_in_by_mail("bob@example.com").await;
    let caller = app.signed_in(&by_mail).with("x-stack-allow-restricted-user", "true");
    let refused = caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
    let details = assert_error(&refused, 403, "TEAM_INVITATION_RESTRICTED_USER_NOT_ALLOWED");
    assert_eq!(details["restricted_reason"]["needs"], "second_factor");
    let by_id = format!("{INVITATIONS}/{invitation}/accept?user_id={}", bob.user_id);
    assert_error(&caller.post(&by_id, json!({})).await, 403, "REAUTHENTICATION_REQUIRED");
    assert!(members_of(&app, &id).await.is_empty());
    let both = app.signed_in(&bob);
    assert_eq!(both.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await.status(), 200);
}
