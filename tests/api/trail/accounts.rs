//! The trail's entries about accounts, which record how and from where a user signed in, and who
//! made which changes.

use api::product::access::Operator;
use jiff::SignedDuration;
use model::session::Amr;
use model::trail::{Access, Actor, Event, Target, TargetKind};
use serde_json::json;
use support::TestApp;
use wire::id::{ProjectId, UserId};

use super::{id, last_events, listed, one, operation_entries, project_trail, trail, user_of};
use crate::auth::{mfa_recovery_codes, oauth_callback};
use crate::challenges::{SIGN_UP, account_of, altcha, guard};
use crate::owners::{Owner, with_token};

const SESSIONS: &str = "/api/v1/auth/sessions";

#[tokio::test]
async fn a_sign_in_is_recorded_with_method_place_and_session() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let up = one(&app, "auth-password-sign-up").await;
    assert_eq!((up.events.as_slice(), up.method.as_slice()), (&[Event::Created, Event::SignIn][..], &[Amr::Pwd][..]));
    app.advance(SignedDuration::from_secs(1));
    let caller = app.client().with("cloudfront-viewer-address", "203.0.113.7:4711").with("cloudfront-viewer-city", "Lisbon");
    let body = json!({ "email": "ada@example.com", "password": "correct horse battery" });
    assert_eq!(caller.post("/api/v1/auth/password/sign-in", body).await.status(), 200);
    let entry = one(&app, "auth-password-sign-in").await;
    let newest = app.app.store.sessions(app.project_id(), id(&ada), None, 1, |_| true).await.unwrap().sessions.remove(0);
    assert_eq!(entry.actor, Actor::User { user_id: id(&ada), session_id: newest.id });
    assert_eq!((entry.events.as_slice(), entry.user_id, entry.access), (&[Event::SignIn][..], Some(id(&ada)), Some(Access::Client)));
    let place = entry.place.unwrap();
    assert_eq!((place.ip.to_string().as_str(), place.city_name.as_deref()), ("203.0.113.7", Some("Lisbon")));

    assert_eq!(app.signed_in(&ada).delete(&format!("{SESSIONS}/current")).await.status(), 200);
    let out = one(&app, "auth-session-delete-current").await;
    assert_eq!((out.events.as_slice(), user_of(&out)), (&[Event::SignOut][..], Some(id(&ada))));
}

#[tokio::test]
async fn a_sign_in_awaiting_a_second_factor_is_recorded() {
    let app = TestApp::start().await;
    let ada = crate::auth::mfa_sign_in::user_with_app(&app, "ada@example.com").await;
    assert!(last_events(&app).await.contains(&Event::AuthenticatorAdded));
    let code = crate::auth::mfa_sign_in::attempt(&app, "ada@example.com").await;
    let asked = one(&app, "auth-password-sign-in").await;
    assert_eq!((asked.events.as_slice(), asked.user_id), (&[Event::SecondFactorAsked][..], Some(id(&ada))));
    assert_eq!((asked.method.as_slice(), asked.actor), (&[Amr::Pwd][..], Actor::Anonymous));
    app.advance(SignedDuration::from_secs(60));
    let body = json!({ "code": code, "type": "totp", "totp": crate::auth::mfa_sign_in::now_code(&app) });
    assert_eq!(app.client().post("/api/v1/auth/mfa/sign-in", body).await.status(), 200);
    let entry = one(&app, "auth-mfa-sign-in").await;
    assert_eq!((entry.events.as_slice(), entry.method), (&[Event::SignIn][..], vec![Amr::Pwd, Amr::Otp, Amr::Mfa]));
}

#[tokio::test]
async fn recovery_codes_are_recorded_when_made_and_when_used() {
    let app = TestApp::start().await;
    let ada = crate::auth::mfa_sign_in::user_with_app(&app, "ada@example.com").await;
    let codes = mfa_recovery_codes::codes(&app, &ada).await;
    let made = one(&app, "auth-mfa-recovery-codes-create").await;
    assert_eq!((made.events.as_slice(), user_of(&made)), (&[Event::RecoveryCodesCreated][..], Some(id(&ada))));
    assert_eq!(mfa_recovery_codes::recover(&app, &codes[0]).await.status(), 200);
    let entry = one(&app, "auth-mfa-sign-in").await;
    assert_eq!(entry.events, [Event::SignIn, Event::RecoveryCodeUsed]);
    assert_eq!((entry.method, entry.user_id), (vec![Amr::Pwd, Amr::Otp, Amr::Mfa], Some(id(&ada))));
    app.advance(SignedDuration::from_secs(60));
    assert_eq!(mfa_recovery_codes::recover(&app, &codes[0]).await.code(), "INVALID_RECOVERY_CODE");
    let failed = operation_entries(&app, "auth-mfa-sign-in").await.pop().unwrap();
    assert_eq!((failed.events, failed.user_id), (vec![Event::SignInFailed], Some(id(&ada))));
}

/// A separate write marks the solution of a challenge as used. It adds no entry.
#[tokio::test]
async fn a_sign_up_with_a_challenge_is_recorded_as_one_without() {
    let app = TestApp::start().await;
    guard(&app, json!({ "provider": "altcha", "sign_up": "always", "send_sign_in_code": "off", "oauth": "off" })).await;
    let solution = altcha::visible(&altcha::solved(&altcha::easy(&app)));
    let answer = app.client().post(SIGN_UP, account_of("ada@example.com", solution)).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let entry = one(&app, "auth-password-sign-up").await;
    let user = UserId::parse(answer.json()["user_id"].as_str().unwrap()).unwrap();
    assert_eq!((entry.events.as_slice(), user_of(&entry)), (&[Event::Created, Event::SignIn][..], Some(user)));
    // A solution used up by a rejected sign-up does not add an entry either.
    let taken = altcha::visible(&altcha::solved(&altcha::easy(&app)));
    assert_eq!(app.client().post(SIGN_UP, account_of("ada@example.com", taken)).await.code(), "USER_EMAIL_ALREADY_EXISTS");
    let entries = operation_entries(&app, "auth-password-sign-up").await;
    assert!(entries.iter().all(|entry| !entry.events.is_empty()), "{entries:?}");
}

#[tokio::test]
async fn account_changes_are_recorded_as_events() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let (caller, server) = (app.signed_in(&ada), app.server());
    let channel =
        json!({ "user_id": ada.user_id, "value": "ada@other.example", "type": "email", "used_for_auth": true, "is_verified": true });
    let channel = server.post("/api/v1/contact-channels", channel).await.json()["id"].as_str().unwrap().to_owned();
    let added = one(&app, "users-contact-channel-create").await;
    assert_eq!(added.events, [Event::AddressAdded, Event::AddressVerified]);
    assert_eq!((added.targets.as_slice(), added.user_id), (&[Target::new(TargetKind::ContactChannel, &channel)][..], Some(id(&ada))));

    // The order of entries of the same millisecond is not defined.
    let later = || app.advance(SignedDuration::from_secs(1));
    let user = format!("/api/v1/users/{}", ada.user_id);
    later();
    assert_eq!(server.patch(&user, json!({ "restricted_by_admin": true })).await.status(), 200);
    assert_eq!(last_events(&app).await, [Event::Restricted]);
    later();
    assert_eq!(server.patch(&user, json!({ "restricted_by_admin": false })).await.status(), 200);
    assert_eq!(last_events(&app).await, [Event::Unrestricted]);

    let update = json!({ "old_password": "correct horse battery", "new_password": "a better horse battery" });
    later();
    assert_eq!(caller.post("/api/v1/auth/password/update", update).await.status(), 200);
    assert_eq!(last_events(&app).await, [Event::SessionsEnded, Event::PasswordChanged]);

    let reset = json!({ "email": "ada@other.example", "callback_url": "http://localhost:3000/reset" });
    later();
    assert_eq!(app.client().post("/api/v1/auth/password/send-reset-code", reset).await.status(), 200);
    let code = app.last_mail("ada@other.example").await.code();
    let body = json!({ "code": code, "password": "the best horse battery" });
    later();
    assert_eq!(app.client().post("/api/v1/auth/password/reset", body).await.status(), 200);
    assert_eq!(last_events(&app).await, [Event::SessionsEnded, Event::PasswordReset]);

    later();
    assert_eq!(server.delete(&format!("/api/v1/contact-channels/{}/{channel}", ada.user_id)).await.status(), 200);
    assert_eq!(last_events(&app).await, [Event::AddressRemoved]);
    later();
    assert_eq!(server.delete(&user).await.status(), 200);
    assert_eq!(last_events(&app).await, [Event::Deleted]);

    // The account's list contains all of these entries.
    let own = listed(&app, app.project_id(), Some(id(&ada))).await;
    let all: Vec<_> = trail(&app).await.into_iter().filter(|entry| entry.user_id == Some(id(&ada))).collect();
    assert_eq!(own, all);
    assert!(own.len() >= 9, "{own:?}");
}

#[tokio::test]
async fn impersonation_by_a_server_is_recorded_as_such() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    let body = json!({ "user_id": ada.user_id, "is_impersonation": true });
    assert_eq!(app.server().post(SESSIONS, body).await.status(), 200);
    let entry = one(&app, "auth-session-create").await;
    let key = app.app.store.api_key(app.project_id(), &app.keys.server).await.unwrap().unwrap();
    assert_eq!(entry.actor, Actor::Key { key_set_id: key.set_id.into(), kind: key.kind });
    assert_eq!((entry.events.as_slice(), entry.user_id, entry.access), (&[Event::Impersonation][..], Some(id(&ada)), Some(Access::Server)));
    assert_eq!(entry.targets.iter().map(|target| target.kind).collect::<Vec<_>>(), [TargetKind::Session]);
    assert_eq!(entry.fields, ["is_impersonation", "user_id"]);
}

#[tokio::test]
async fn a_provider_flow_records_the_sign_up_and_then_the_sign_in() {
    let (app, provider) = oauth_callback::start().await;
    let (ada, _) = oauth_callback::sign_in(&app, &provider, oauth_callback::ada()).await;
    let created = one(&app, "auth-oauth-callback").await;
    assert_eq!((created.events.as_slice(), created.user_id), (&[Event::Created][..], Some(id(&ada))));
    assert_eq!((created.actor, created.access), (Actor::Anonymous, None));
    let entry = one(&app, "auth-oauth-token").await;
    assert_eq!((entry.events.as_slice(), entry.method.as_slice()), (&[Event::SignIn][..], &[Amr::Fed][..]));
    assert_eq!((entry.access, user_of(&entry)), (Some(Access::Client), Some(id(&ada))));

    // A returning user only signs in.
    app.advance(SignedDuration::from_secs(1));
    oauth_callback::sign_in(&app, &provider, oauth_callback::ada()).await;
    let counts = (operation_entries(&app, "auth-oauth-callback").await.len(), operation_entries(&app, "auth-oauth-token").await.len());
    assert_eq!(counts, (1, 2));
}

#[tokio::test]
async fn a_reused_code_records_the_end_of_its_session() {
    let (app, provider) = oauth_callback::start().await;
    let landed = oauth_callback::flow(&app, &provider, oauth_callback::ada(), &[]).await;
    let code = oauth_callback::parameter(&landed, "code");
    assert_eq!(oauth_callback::exchange(&app, &code).await.status(), 200);
    assert_eq!(oauth_callback::exchange(&app, &code).await.status(), 400);
    let events: Vec<_> = operation_entries(&app, "auth-oauth-token").await.into_iter().flat_map(|entry| entry.events).collect();
    assert_eq!(events.len(), 2);
    assert!(events.contains(&Event::SignIn) && events.contains(&Event::SessionsEnded), "{events:?}");
}

#[tokio::test]
async fn owners_are_recorded_as_operators_and_deletions_in_internal() {
    let app = TestApp::start().await;
    let internal = app.internal_project().await;
    let owner = Owner::sign_up(&app, &internal, "ada@example.com").await;
    let project = ProjectId::parse(&owner.project("Notes").await).unwrap();
    let admin = with_token(&app, project.as_str(), "admin", &owner.user.access_token);
    app.advance(SignedDuration::from_secs(1));
    let settings = json!({ "display_name": "Looms", "config": { "sign_up_enabled": false, "email_config": null } });
    let answer = admin.patch("/api/v1/internal/projects/current", settings).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let actor = Actor::Operator { user_id: UserId::parse(&owner.user.user_id).unwrap() };
    let set = project_trail(&app, &project).await.pop().unwrap();
    assert_eq!((set.operation.as_str(), set.actor, set.access), ("projects-internal-current-update", actor, Some(Access::Admin)));
    assert!(set.fields.iter().any(|field| field == "config.sign_up_enabled"), "{:?}", set.fields);

    app.advance(SignedDuration::from_secs(1));
    assert_eq!(admin.delete("/api/v1/internal/projects/current").await.status(), 200);
    let end = project_trail(&app, &ProjectId::internal()).await.pop().unwrap();
    assert_eq!((end.operation.as_str(), end.actor), ("projects-internal-current-delete", actor));
    assert_eq!(end.targets, [Target::new(TargetKind::Project, &project)]);
    app.end_deletions().await;
    assert_eq!(project_trail(&app, &project).await, []);
    assert_eq!(project_trail(&app, &ProjectId::internal()).await.pop(), Some(end));
}

#[tokio::test]
async fn a_large_deletion_leaves_one_entry() {
    let app = TestApp::start().await;
    let ada = app.sign_up("ada@example.com").await;
    for _ in 0..60 {
        let team = json!({ "display_name": "Looms", "creator_user_id": ada.user_id });
        assert_eq!(app.server().post("/api/v1/teams", team).await.status(), 201);
    }
    assert_eq!(app.server().delete(&format!("/api/v1/users/{}", ada.user_id)).await.status(), 200);
    let entry = one(&app, "users-user-delete").await;
    assert_eq!((entry.events.as_slice(), entry.user_id), (&[Event::Deleted][..], Some(id(&ada))));
}

#[tokio::test]
async fn all_entries_are_deleted_with_their_project() {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    app.advance(SignedDuration::from_hours(24 * 40));
    app.sign_up("bob@example.com").await;
    let entries = |app: &TestApp| app.table().keys().filter(|(pk, _)| pk.contains(&format!("{}#TRAIL", app.project_id()))).count();
    assert_eq!(entries(&app), 2);
    app.internal_project().await;
    assert_eq!(app.admin().delete("/api/v1/internal/projects/current").await.status(), 200);
    app.end_deletions().await;
    assert_eq!(entries(&app), 0);
}

#[tokio::test]
async fn changes_by_the_gateway_are_recorded_as_made_by_the_system() {
    let app = TestApp::start().await;
    // A gateway page calls the operation for the operator, without a key.
    let mut request = http::Request::builder().method("POST").uri("/api/v1/users").header("x-service-access-type", "server");
    request = request.header("x-service-project-id", app.project_id().as_str()).header("content-type", "application/json");
    let mut request = request.body(axum::body::Body::from(r#"{"display_name":"Ada"}"#)).unwrap();
    request.extensions_mut().insert(Operator);
    assert_eq!(app.answer(request).await.status(), 201);
    let entry = one(&app, "users-user-create").await;
    assert_eq!((entry.actor, entry.access, entry.events), (Actor::System, Some(Access::Server), vec![Event::Created]));

    // The environment contains a key that the project does not have, so the gateway adds the key.
    let keys = gateway::keys::Keys { admin: "sak_another".to_owned().into(), ..app.keys.clone() };
    keys.install(&app.app.store, &app.app.clock, &app.app.entropy).await.unwrap();
    let entry = one(&app, "gateway-key-add").await;
    let key = app.app.store.api_key(app.project_id(), &keys.admin).await.unwrap().unwrap();
    assert_eq!((entry.actor, entry.targets), (Actor::System, vec![Target::new(TargetKind::KeySet, key.set_id)]));
}
