//! Teams, invitations, a name, a picture and metadata that an attacker plants in an account before
//! the owner of the address proves it. Clicking the link in a verification email does not change
//! this data.

use serde_json::{Value, json};
use support::provider::Provider;
use support::{Answer, SignedInUser, TestApp};

use super::{CHANNELS, NEW, PASSWORD, added, addresses, otp_sign_in, password_sign_in, reset, reset_code, user, verification_code, verify};
use crate::auth::assert_error;
use crate::auth::oauth_callback;
use crate::owners::{Owner, PROJECTS};
use crate::teams::invitations::invite;
use crate::teams::{join, team};

const ADA: &str = "ada@example.com";
const EVE: &str = "eve@example.com";
const ME: &str = "/api/v1/users/me";
const INVITATIONS: &str = "/api/v1/team-invitations";
/// The smallest PNG.
const PICTURE: &str =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Proof {
    Reset,
    Code,
    Provider,
}

const PROOFS: [Proof; 3] = [Proof::Reset, Proof::Code, Proof::Provider];

/// The owner of [`ADA`] proves the address without a session of the account. Returns the new
/// session.
async fn prove(app: &TestApp, provider: &Provider, proof: Proof) -> SignedInUser {
    let of = |answer: Answer| {
        assert_eq!(answer.status(), 200, "{proof:?}: {}", answer.text());
        SignedInUser::of(ADA, &answer.json())
    };
    match proof {
        Proof::Reset => {
            assert_eq!(reset(app, &reset_code(app, ADA).await).await.status(), 200);
            of(password_sign_in(app, ADA, NEW).await)
        }
        Proof::Code => of(otp_sign_in(app, &app.sign_in_code(ADA).await).await),
        Proof::Provider => oauth_callback::sign_in(app, provider, oauth_callback::ada()).await.0,
    }
}

/// The id of the user's channel that contains an address.
async fn channel(app: &TestApp, user: &SignedInUser, address: &str) -> String {
    let list = app.signed_in(user).get(&format!("{CHANNELS}?user_id=me")).await.json();
    let found = list["items"].as_array().unwrap().iter().find(|item| item["value"] == address).unwrap();
    found["id"].as_str().unwrap().to_owned()
}

/// Verifies an address of the user with the link in an email, opened in another browser.
async fn verify_elsewhere(app: &TestApp, user: &SignedInUser, address: &str) {
    let code = verification_code(app, user, &channel(app, user, address).await, address).await;
    assert_eq!(verify(app, &code).await.status(), 200);
}

/// Verifies an address of the user in the user's session.
async fn verify_in_session(app: &TestApp, user: &SignedInUser, address: &str) {
    let code = verification_code(app, user, &channel(app, user, address).await, address).await;
    let verified = app.signed_in(user).post(&format!("{CHANNELS}/verify"), json!({ "code": code })).await;
    assert_eq!(verified.status(), 200, "{}", verified.text());
}

async fn members(app: &TestApp, team: &str) -> Vec<String> {
    let list = app.server().get(&format!("/api/v1/team-member-profiles?team_id={team}")).await.json();
    list["items"].as_array().unwrap().iter().map(|member| member["user_id"].as_str().unwrap().to_owned()).collect()
}

async fn teams(app: &TestApp, user: &str) -> Vec<String> {
    let list = app.server().get(&format!("/api/v1/teams?user_id={user}")).await.json();
    list["items"].as_array().unwrap().iter().map(|team| team["id"].as_str().unwrap().to_owned()).collect()
}

async fn start(has_personal_teams: bool) -> (TestApp, Provider) {
    let (app, provider) = oauth_callback::start().await;
    app.configure(json!({ "config": { "create_team_on_sign_up": has_personal_teams, "client_team_creation_enabled": true } })).await;
    (app, provider)
}

#[tokio::test]
async fn the_owner_of_an_address_gets_none_of_the_squatter_s_teams_invitations_and_words() {
    for (proof, has_personal_teams) in PROOFS.into_iter().flat_map(|proof| [(proof, true), (proof, false)]) {
        let (app, provider) = start(has_personal_teams).await;
        let (eve, mallory, bob) =
            (app.sign_up(ADA).await, app.sign_up("mallory@example.com").await, app.sign_in_by_mail("bob@example.com").await);
        let own = app.signed_in(&eve);
        let founded = own.post("/api/v1/teams", json!({ "display_name": "Looms", "creator_user_id": "me" })).await.json();
        let founded = founded["id"].as_str().unwrap().to_owned();
        let (alone, shared) = (team(&app, "Alone", Some(&eve)).await, team(&app, "Shared", Some(&bob)).await);
        join(&app, &shared, &eve.user_id).await;
        join(&app, &founded, &mallory.user_id).await;
        let invite = json!({ "team_id": founded, "email": "bob@example.com", "callback_url": "http://localhost:3000/x" });
        let invited = own.post(&format!("{INVITATIONS}/send-code"), invite).await;
        assert_eq!(invited.status(), 200, "{}", invited.text());
        let invitation = app.last_mail("bob@example.com").await.code();
        let planted = json!({
            "display_name": "Your bank", "profile_image_url": PICTURE, "client_metadata": { "bank": "eve" }, "selected_team_id": founded,
        });
        assert_eq!(own.patch(ME, planted).await.status(), 200);
        let picture = json!({ "display_name": "Ada", "profile_image_url": PICTURE });
        assert_eq!(own.patch(&format!("/api/v1/team-member-profiles/{shared}/me"), picture).await.status(), 200);
        super::change(&app, &eve.user_id, json!({ "server_metadata": { "plan": 1 }, "client_read_only_metadata": { "plan": 2 } })).await;

        let ada = prove(&app, &provider, proof).await;
        let what = format!("{proof:?}, {has_personal_teams}");
        assert_eq!(ada.user_id, eve.user_id, "{what}");
        let account = user(&app, &ada.user_id).await;
        for field in ["display_name", "profile_image_url", "client_metadata"] {
            assert_eq!(account[field], Value::Null, "{what}: {field}");
        }
        // Data that only servers can write is kept.
        assert_eq!((&account["server_metadata"], &account["client_read_only_metadata"]), (&json!({ "plan": 1 }), &json!({ "plan": 2 })));
        let stored = app.table();
        assert!(!stored.keys().any(|(_, sk)| sk.starts_with("IMAGE#")), "{what}: the pictures are deleted");

        let left = teams(&app, &ada.user_id).await;
        assert_eq!(left.len(), usize::from(has_personal_teams), "{what}");
        assert!(![&founded, &alone, &shared].iter().any(|team| left.contains(team)), "{what}");
        assert_eq!(account["selected_team_id"], left.first().map_or(Value::Null, |team| json!(team)), "{what}");
        assert_eq!(members(&app, &founded).await, std::slice::from_ref(&mallory.user_id), "{what}");
        assert_eq!((members(&app, &alone).await, members(&app, &shared).await), (vec![], vec![bob.user_id.clone()]), "{what}");
        let accepted = app.signed_in(&bob).post(&format!("{INVITATIONS}/accept"), json!({ "code": invitation })).await;
        assert_error(&accepted, 404, "VERIFICATION_CODE_NOT_FOUND");
        let waiting = app.server().get(&format!("{INVITATIONS}?team_id={founded}")).await.json();
        assert_eq!(waiting["items"], json!([]), "{what}: the invitation is revoked");
        // The squatter's teams do not count towards the owner's quota.
        let item = stored.into_iter().find(|((pk, sk), _)| pk.ends_with(&format!("#{}", ada.user_id)) && sk == "USER").unwrap().1;
        assert!(item.get("founded").is_none(), "{what}");
        let told = app.mails(ADA).await.into_iter().filter(|mail| mail.0.text.starts_with("This account is now yours")).count();
        assert_eq!(told, 1, "{what}");
    }
}

/// The address of an account can be proved, no matter how many memberships the account has.
#[tokio::test]
async fn the_owner_of_an_address_leaves_any_number_of_teams() {
    for proof in PROOFS {
        let (app, provider) = start(true).await;
        let eve = app.sign_up(ADA).await;
        for number in 0..70 {
            join(&app, &team(&app, &format!("T{number}"), None).await, &eve.user_id).await;
        }
        for number in 0..30 {
            added(&app, &eve, &format!("eve{number}@example.com")).await;
        }
        assert_eq!(teams(&app, &eve.user_id).await.len(), 71);
        let ada = prove(&app, &provider, proof).await;
        assert_eq!(teams(&app, &ada.user_id).await.len(), 1, "{proof:?}");
        assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)], "{proof:?}");
    }
}

/// People click links in emails that they did not request.
#[tokio::test]
async fn a_verification_without_a_session_lets_the_squatter_keep_nothing() {
    for proof in PROOFS {
        for is_first in [true, false] {
            // The squatter verifies another address before or after the click.
            let (app, provider) = start(false).await;
            let eve = app.sign_up(ADA).await;
            added(&app, &eve, EVE).await;
            if is_first {
                verify_in_session(&app, &eve, EVE).await;
            }
            verify_elsewhere(&app, &eve, ADA).await;
            if !is_first {
                verify_in_session(&app, &eve, EVE).await;
            }
            let what = format!("{proof:?}, {is_first}");
            assert_eq!(app.sign_in(EVE).await.user_id, eve.user_id, "{what}: until then, nothing is transferred");
            assert_eq!(app.sign_in(ADA).await.user_id, eve.user_id, "{what}");
            let founded = team(&app, "Looms", Some(&eve)).await;

            let ada = prove(&app, &provider, proof).await;
            assert_eq!(ada.user_id, eve.user_id, "{what}");
            assert_eq!(addresses(&app, &ada.user_id).await, [(ADA.to_owned(), true)], "{what}");
            assert_error(&app.signed_in(&eve).get(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
            for address in [ADA, EVE] {
                assert_error(&password_sign_in(&app, address, PASSWORD).await, 400, "EMAIL_PASSWORD_MISMATCH");
            }
            assert_ne!(app.sign_in_by_mail(EVE).await.user_id, ada.user_id, "{what}");
            assert!(members(&app, &founded).await.is_empty(), "{what}");
        }
    }
}

#[tokio::test]
async fn a_verification_in_a_session_of_the_account_settles_the_address() {
    for proof in PROOFS {
        let (app, provider) = start(false).await;
        let ada = app.sign_up(ADA).await;
        added(&app, &ada, "work@example.com").await;
        verify_in_session(&app, &ada, "work@example.com").await;
        verify_in_session(&app, &ada, ADA).await;
        let own = team(&app, "Looms", Some(&ada)).await;
        super::change(&app, &ada.user_id, json!({ "display_name": "Ada" })).await;
        assert_eq!(prove(&app, &provider, proof).await.user_id, ada.user_id, "{proof:?}");
        assert_eq!(addresses(&app, &ada.user_id).await.len(), 2, "{proof:?}");
        assert_eq!(members(&app, &own).await, std::slice::from_ref(&ada.user_id), "{proof:?}");
        assert_eq!(user(&app, &ada.user_id).await["display_name"], "Ada", "{proof:?}");
    }
}

/// An account with [`ADA`]. The owner of the address has clicked the link in a verification email.
async fn clicked(app: &TestApp, is_added: bool) -> SignedInUser {
    let eve = if is_added { app.sign_in_by_mail(EVE).await } else { app.sign_up(ADA).await };
    if is_added {
        added(app, &eve, ADA).await;
    }
    verify_elsewhere(app, &eve, ADA).await;
    eve
}

/// A team invites the owner of an address, not any user who has added the address.
#[tokio::test]
async fn a_squatter_neither_sees_nor_uses_invitations_of_an_owner_who_clicked_a_link() {
    for (proof, is_added) in PROOFS.into_iter().flat_map(|proof| [(proof, false), (proof, true)]) {
        let (app, provider) = start(false).await;
        let eve = clicked(&app, is_added).await;
        let looms = team(&app, "Looms", None).await;
        let (invitation, _) = invite(&app, &looms, ADA).await;
        let (list, accept) = (format!("{INVITATIONS}?user_id="), format!("{INVITATIONS}/{invitation}/accept?user_id="));
        let what = format!("{proof:?}, {is_added}");
        for (caller, user) in [(app.signed_in(&eve), "me"), (app.server(), eve.user_id.as_str())] {
            assert_eq!(caller.get(&format!("{list}{user}")).await.json()["items"], json!([]), "{what}");
            let accepted = caller.post(&format!("{accept}{user}"), json!({})).await;
            assert_error(&accepted, 403, "TEAM_INVITATION_EMAIL_MISMATCH");
        }
        assert!(members(&app, &looms).await.is_empty(), "{what}");
        if !is_added {
            let ada = prove(&app, &provider, proof).await;
            assert_eq!(app.signed_in(&ada).get(&format!("{list}me")).await.json()["items"][0]["id"], invitation, "{what}");
            assert_eq!(app.signed_in(&ada).post(&format!("{accept}me"), json!({})).await.status(), 200, "{what}");
        }
    }
}

/// A person who has an invitation's code reads the address's emails.
#[tokio::test]
async fn a_user_who_verified_without_a_session_accepts_an_invitation_by_its_code() {
    for is_added in [false, true] {
        let (app, _) = start(false).await;
        let ada = clicked(&app, is_added).await;
        let looms = team(&app, "Looms", None).await;
        let (_, code) = invite(&app, &looms, ADA).await;
        let accepted = app.signed_in(&ada).post(&format!("{INVITATIONS}/accept"), json!({ "code": code })).await;
        assert_eq!(accepted.status(), 200, "{}", accepted.text());
        assert_eq!(members(&app, &looms).await, [ada.user_id]);
    }
}

/// Only the first proof removes anything, because the owner is known afterwards.
#[tokio::test]
async fn the_owner_proves_the_address_a_second_time_without_loss() {
    let (app, provider) = start(false).await;
    let eve = app.sign_up(ADA).await;
    verify_elsewhere(&app, &eve, ADA).await;
    let ada = prove(&app, &provider, Proof::Reset).await;
    let own = team(&app, "Looms", Some(&ada)).await;
    for proof in PROOFS {
        assert_eq!(prove(&app, &provider, proof).await.user_id, ada.user_id, "{proof:?}");
        assert_eq!(members(&app, &own).await, std::slice::from_ref(&ada.user_id), "{proof:?}");
    }
}

/// A user who was invited by a server got everything from servers, so nobody has to be locked out.
#[tokio::test]
async fn the_first_sign_in_to_an_account_that_a_server_created_keeps_its_teams() {
    for (is_entered, proof) in [false, true].into_iter().flat_map(|is_entered| PROOFS.map(|proof| (is_entered, proof))) {
        let (app, provider) = start(true).await;
        let body =
            json!({ "primary_email": ADA, "primary_email_auth_enabled": true, "display_name": "Ada", "client_metadata": { "plan": 1 } });
        let created = app.server().post("/api/v1/users", body).await.json();
        let id = created["id"].as_str().unwrap().to_owned();
        let own = team(&app, "Looms", None).await;
        join(&app, &own, &id).await;
        if is_entered {
            let session = app.server().post("/api/v1/auth/sessions", json!({ "user_id": id })).await;
            assert_eq!(session.status(), 200, "{}", session.text());
        }
        let ada = prove(&app, &provider, proof).await;
        assert_eq!(ada.user_id, id, "{proof:?}");
        let account = user(&app, &id).await;
        assert_eq!(account["display_name"] == "Ada", !is_entered, "{proof:?}");
        assert_eq!(account["client_metadata"].is_null(), is_entered, "{proof:?}");
        assert_eq!(members(&app, &own).await.is_empty(), is_entered, "{proof:?}");
        assert_eq!(teams(&app, &id).await.len(), if is_entered { 1 } else { 2 }, "{proof:?}: a personal team");
    }
}

/// Someone must be able to administer the projects, because their keys still work.
#[tokio::test]
async fn the_last_owner_of_projects_stays_in_their_team() {
    let app = TestApp::start_unobserved().await;
    let internal = app.internal_project().await;
    let (eve, bob) = (Owner::sign_up(&app, &internal, ADA).await, Owner::sign_up(&app, &internal, "bob@example.com").await);
    eve.project("Alone").await;
    bob.project("Shared").await;
    let joined = app.server_of(&internal).post(&format!("/api/v1/team-memberships/{}/{}", bob.team, eve.user.user_id), json!({})).await;
    assert_eq!(joined.status(), 201, "{}", joined.text());
    let client = app.client_of(&internal);
    let send = json!({ "email": ADA, "callback_url": "http://localhost:3000/x" });
    assert_eq!(client.post("/api/v1/auth/password/send-reset-code", send).await.status(), 200);
    let code = json!({ "code": app.last_mail(ADA).await.code(), "password": NEW });
    assert_eq!(client.post("/api/v1/auth/password/reset", code).await.status(), 200);
    let signed_in = client.post("/api/v1/auth/password/sign-in", json!({ "email": ADA, "password": NEW })).await;
    let ada = client.with("x-stack-access-token", signed_in.json()["access_token"].as_str().unwrap());
    let owned = ada.get(PROJECTS).await.json();
    let names: Vec<&Value> = owned["items"].as_array().unwrap().iter().map(|project| &project["display_name"]).collect();
    assert_eq!(names, ["Alone"]);
}
