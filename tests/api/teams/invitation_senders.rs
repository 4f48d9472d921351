//! An invitation that a member has sent is valid only as long as the sender is a member.

use aws_sdk_dynamodb::operation::update_item::UpdateItemInput;
use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::future::join_all;
use serde_json::{Value, json};
use store::Label;
use store::team::invitation;
use support::{SignedInUser, TestApp};
use wire::id::InvitationId;

use super::invitations::INVITATIONS;
use super::{assert_error, ids, join, members_of, membership, team};
use crate::auth::account_notices::{link, notices, press};

/// A team of Ada, with Mallory as a member.
async fn team_of_two(app: &TestApp) -> (String, SignedInUser, SignedInUser) {
    let (ada, mallory) = (app.sign_up("ada@example.com").await, app.sign_in_by_mail("mallory@example.com").await);
    let id = team(app, "Engines", Some(&ada)).await;
    join(app, &id, &mallory.user_id).await;
    (id, ada, mallory)
}

/// Invites a user as a member, and returns the invitation's id and the emailed code.
async fn invite_as(app: &TestApp, sender: &SignedInUser, team: &str, email: &str) -> (String, String) {
    let body = json!({ "team_id": team, "email": email, "callback_url": "http://localhost:3000/join" });
    let sent = app.signed_in(sender).post(&format!("{INVITATIONS}/send-code"), body).await;
    assert_eq!(sent.status(), 200, "{}", sent.text());
    (sent.json()["id"].as_str().unwrap().to_owned(), app.last_mail(email).await.code())
}

async fn remove(app: &TestApp, remover: &SignedInUser, team: &str, user: &SignedInUser) {
    assert_eq!(app.signed_in(remover).delete(&membership(team, &user.user_id)).await.status(), 200);
}

/// Asserts that the invitation does not exist for the invited user.
async fn assert_void(app: &TestApp, invitee: &SignedInUser, (id, code): &(String, String)) {
    let caller = app.signed_in(invitee);
    let requests = [
        (format!("{id}/accept?user_id=me"), json!({})),
        ("accept".to_owned(), json!({ "code": code })),
        ("accept/check-code".to_owned(), json!({ "code": code })),
        ("accept/details".to_owned(), json!({ "code": code })),
    ];
    for (path, body) in requests {
        assert_error(&caller.post(&format!("{INVITATIONS}/{path}"), body).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    }
    assert!(ids(&caller.get(&format!("{INVITATIONS}?user_id=me")).await).is_empty());
}

#[tokio::test]
async fn a_removed_member_cannot_return_by_an_own_invitation() {
    let app = TestApp::start().await;
    let (id, ada, mallory) = team_of_two(&app).await;
    let invitation = invite_as(&app, &mallory, &id, "mallory@example.com").await;
    remove(&app, &ada, &id, &mallory).await;
    assert_void(&app, &mallory, &invitation).await;
    let by_server = format!("{INVITATIONS}/{}/accept?user_id={}", invitation.0, mallory.user_id);
    assert_error(&app.server().post(&by_server, json!({})).await, 404, "VERIFICATION_CODE_NOT_FOUND");
    assert_eq!(members_of(&app, &id).await, [ada.user_id]);
}

#[tokio::test]
async fn an_invitation_ends_when_its_sender_leaves_is_removed_or_deleted() {
    let app = TestApp::start().await;
    let (id, ada, mallory) = team_of_two(&app).await;
    let (bob, trent) = (app.sign_in_by_mail("bob@example.com").await, app.sign_up("trent@example.com").await);
    join(&app, &id, &trent.user_id).await;
    let invitation = invite_as(&app, &mallory, &id, "bob@example.com").await;
    let other = invite_as(&app, &trent, &id, "bob@example.com").await;
    assert_eq!(ids(&app.signed_in(&bob).get(&format!("{INVITATIONS}?user_id=me")).await), [invitation.0.clone(), other.0.clone()]);

    remove(&app, &ada, &id, &mallory).await;
    assert_eq!(ids(&app.signed_in(&bob).get(&format!("{INVITATIONS}?user_id=me")).await), std::slice::from_ref(&other.0));
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", trent.user_id)).await.status(), 200);
    assert_void(&app, &bob, &invitation).await;
    assert_void(&app, &bob, &other).await;

    // The team still lists the invitations, because they become valid again if their sender
    // returns.
    assert_eq!(ids(&app.signed_in(&ada).get(&format!("{INVITATIONS}?team_id={id}")).await).len(), 2);
    join(&app, &id, &mallory.user_id).await;
    remove(&app, &mallory, &id, &mallory).await;
    assert_void(&app, &bob, &invitation).await;
    join(&app, &id, &mallory.user_id).await;
    let by_id = format!("{INVITATIONS}/{}/accept?user_id=me", invitation.0);
    assert_eq!(app.signed_in(&bob).post(&by_id, json!({})).await.status(), 200);
    assert_eq!(app.signed_in(&bob).get(&format!("/api/v1/team-member-profiles/{id}/me")).await.status(), 200);
}

#[tokio::test]
async fn invitations_of_servers_outlive_every_member() {
    let app = TestApp::start().await;
    let (id, ada, mallory) = team_of_two(&app).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    // A request by a server has the server's rights, even if it contains a member's token.
    let body = json!({ "team_id": id, "email": "bob@example.com", "callback_url": "http://localhost:3000/join" });
    let server = app.server().with("x-stack-access-token", &mallory.access_token);
    let sent = server.post(&format!("{INVITATIONS}/send-code"), body).await.json()["id"].as_str().unwrap().to_owned();
    remove(&app, &ada, &id, &mallory).await;
    assert_eq!(ids(&app.signed_in(&bob).get(&format!("{INVITATIONS}?user_id=me")).await), std::slice::from_ref(&sent));
    let accepted = app.signed_in(&bob).post(&format!("{INVITATIONS}/{sent}/accept?user_id=me"), json!({})).await;
    assert_eq!(accepted.status(), 200, "{}", accepted.text());
}

/// Turns all invitations into invitations of an earlier version, which did not store the sender.
async fn age(app: &TestApp, sender: &SignedInUser) {
    let store = &app.app.store;
    let items = app.table().into_iter().filter(|(_, item)| item["d"]["M"]["invited_by"].is_object());
    let mut aged = 0;
    for ((pk, sk), item) in items {
        let update = UpdateItemInput::builder().table_name(store.table()).key("pk", AttributeValue::S(pk)).key("sk", AttributeValue::S(sk));
        let update = match item["gsi2sk"]["S"].as_str() {
            Some(position) => {
                let position = position.strip_suffix(&format!("#{}", sender.user_id)).unwrap();
                let update = update.update_expression("SET gsi2sk = :position REMOVE d.invited_by");
                update.expression_attribute_values(":position", AttributeValue::S(position.to_owned()))
            }
            None => update.update_expression("REMOVE d.invited_by"),
        };
        store.client().call(update).await.unwrap();
        aged += 1;
    }
    assert_eq!(aged % 2, 0, "each invitation has an item of its own and one of its code");
    assert!(aged > 0 && !app.table().into_values().collect::<Value>().to_string().contains("invited_by"));
}

#[tokio::test]
async fn an_invitation_of_an_earlier_version_is_accepted_without_its_sender() {
    let app = TestApp::start().await;
    let (id, ada, mallory) = team_of_two(&app).await;
    let (bob, eve) = (app.sign_in_by_mail("bob@example.com").await, app.sign_in_by_mail("eve@example.com").await);
    let (to_bob, _) = invite_as(&app, &mallory, &id, "bob@example.com").await;
    let (_, to_eve) = invite_as(&app, &mallory, &id, "eve@example.com").await;
    age(&app, &mallory).await;
    remove(&app, &ada, &id, &mallory).await;
    let caller = app.signed_in(&bob);
    assert_eq!(ids(&caller.get(&format!("{INVITATIONS}?user_id=me")).await), std::slice::from_ref(&to_bob));
    assert_eq!(caller.post(&format!("{INVITATIONS}/{to_bob}/accept?user_id=me"), json!({})).await.status(), 200);
    assert_eq!(app.signed_in(&eve).post(&format!("{INVITATIONS}/accept"), json!({ "code": to_eve })).await.status(), 200);
}

#[tokio::test]
async fn an_acceptance_that_began_before_a_removal_is_not_written_after_it() {
    let app = TestApp::start().await;
    let (id, ada, mallory) = team_of_two(&app).await;
    app.sign_in_by_mail("bob@example.com").await;
    let (sent, _) = invite_as(&app, &mallory, &id, "bob@example.com").await;
    let (store, project) = (&app.app.store, app.project_id());
    let read = store.invitation(project, InvitationId::parse(&sent).unwrap()).await.unwrap().unwrap();
    remove(&app, &ada, &id, &mallory).await;
    let table = app.table();
    match store.transact(invitation::accept(project, &read)).await {
        Err(store::Error::Conflict(conflict)) => assert!(conflict.is_of(Label::Member) && !conflict.is_of(Label::Code)),
        other => panic!("{other:?}"),
    }
    assert_eq!(app.table(), table);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_member_who_accepts_during_the_removal_is_no_member_afterwards() {
    let app = TestApp::start().await;
    let (id, ada, mallory) = team_of_two(&app).await;
    for round in 0..20 {
        let (invitation, code) = invite_as(&app, &mallory, &id, "mallory@example.com").await;
        let caller = app.signed_in(&mallory);
        let by_id = format!("{INVITATIONS}/{invitation}/accept?user_id=me");
        let accepting = join_all((0..4).map(async |number| match number % 2 {
            0 => caller.post(&by_id, json!({})).await.status(),
            _ => caller.post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await.status(),
        }));
        let (accepted, ()) = tokio::join!(accepting, remove(&app, &ada, &id, &mallory));
        assert!(accepted.iter().all(|status| matches!(status, 200 | 404 | 409)), "{accepted:?}");
        assert_eq!(members_of(&app, &id).await, std::slice::from_ref(&ada.user_id), "round {round}");
        join(&app, &id, &mallory.user_id).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_removal_and_an_acceptance_have_one_order() {
    let app = TestApp::start().await;
    let (id, ada, mallory) = team_of_two(&app).await;
    for round in 0..20 {
        let email = format!("bob{round}@example.com");
        let bob = app.sign_in_by_mail(&email).await;
        let (invitation, _) = invite_as(&app, &mallory, &id, &email).await;
        let caller = app.signed_in(&bob);
        let by_id = format!("{INVITATIONS}/{invitation}/accept?user_id=me");
        let (accepted, ()) = tokio::join!(caller.post(&by_id, json!({})), remove(&app, &ada, &id, &mallory));
        let is_member = members_of(&app, &id).await.contains(&bob.user_id);
        assert_eq!(accepted.status(), if is_member { 200 } else { 404 }, "round {round}: {}", accepted.text());
        if !is_member {
            assert_error(&caller.post(&by_id, json!({})).await, 404, "VERIFICATION_CODE_NOT_FOUND");
        }
        join(&app, &id, &mallory.user_id).await;
    }
}

#[tokio::test]
async fn an_invitation_ends_when_its_sender_s_account_gets_a_new_owner() {
    let app = TestApp::start().await;
    let (ada, squatter) = (app.sign_up("ada@example.com").await, app.sign_up("mallory@example.com").await);
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let id = team(&app, "Engines", Some(&ada)).await;
    join(&app, &id, &squatter.user_id).await;
    let invitation = invite_as(&app, &squatter, &id, "bob@example.com").await;
    // The owner proves the address and thereby gets the account, but not the membership.
    let owner = app.sign_in_by_mail("mallory@example.com").await;
    assert_eq!(owner.user_id, squatter.user_id);
    assert_void(&app, &bob, &invitation).await;
    join(&app, &id, &owner.user_id).await;
    assert_void(&app, &bob, &invitation).await;

    // The owner's invitation still works after all of the owner's sessions have ended.
    let (sent, _) = invite_as(&app, &owner, &id, "bob@example.com").await;
    assert_eq!(app.signed_in(&owner).delete("/api/v1/auth/sessions?user_id=me&include_current=true").await.status(), 200);
    assert_eq!(ids(&app.signed_in(&bob).get(&format!("{INVITATIONS}?user_id=me")).await), std::slice::from_ref(&sent));
    assert_eq!(app.signed_in(&bob).post(&format!("{INVITATIONS}/{sent}/accept?user_id=me"), json!({})).await.status(), 200);
}

#[tokio::test]
async fn an_invitation_ends_when_its_sender_reports_an_intruder() {
    let app = TestApp::start().await;
    let (id, _, mallory) = team_of_two(&app).await;
    let bob = app.sign_in_by_mail("bob@example.com").await;
    let invitation = invite_as(&app, &mallory, &id, "bob@example.com").await;
    // An intruder in Mallory's session sets a password. The email about this change contains the
    // link.
    let password = json!({ "password": "an intruder's battery" });
    assert_eq!(app.signed_in(&mallory).post("/api/v1/auth/password/set", password).await.status(), 200);
    let mails = notices(&app, "mallory@example.com").await;
    press(&app, &link(mails.last().unwrap())).await;
    assert_void(&app, &bob, &invitation).await;
    assert_eq!(members_of(&app, &id).await.len(), 2);
}

#[tokio::test]
async fn a_restricted_user_invites_nobody() {
    let app = TestApp::start().await;
    app.configure(json!({ "config": { "require_email_verification": true } })).await;
    let squatter = app.sign_up("mallory@example.com").await;
    let id = team(&app, "Engines", Some(&squatter)).await;
    let body = json!({ "team_id": id, "email": "bob@example.com", "callback_url": "http://localhost:3000/join" });
    let caller = app.signed_in(&squatter).with("x-stack-allow-restricted-user", "true");
    let refused = caller.post(&format!("{INVITATIONS}/send-code"), body.clone()).await;
    assert_eq!(assert_error(&refused, 403, "RESTRICTED_USER_NOT_ALLOWED")["restricted_reason"]["type"], "email_not_verified");
    assert_eq!(app.server().post(&format!("{INVITATIONS}/send-code"), body).await.status(), 200);
}
