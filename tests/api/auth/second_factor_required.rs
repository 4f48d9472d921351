//! Projects that require a second factor of all users, of the members of teams, or of the holders
//! of permissions.

use jiff::SignedDuration;
use serde_json::{Value, json};
use support::{Caller, SignedInUser, TestApp};

use super::assert_error;
use super::mfa_authenticators::{set_up, verify};

const ME: &str = "/api/v1/users/me";
const ADA: &str = "ada@example.com";
const REAUTHENTICATE: &str = "/api/v1/auth/sessions/current/reauthenticate";

pub(super) fn reason() -> Value {
    json!({ "type": "restricted_by_administrator", "needs": "second_factor" })
}

pub(super) async fn require(app: &TestApp, settings: Value) {
    app.configure(json!({ "config": { "second_factor": settings } })).await;
}

/// A caller who accepts restricted users in requests, as the published SDK does.
pub(super) fn restricted(app: &TestApp, user: &SignedInUser) -> Caller {
    app.signed_in(user).with("x-stack-allow-restricted-user", "true")
}

pub(super) async fn reason_of(app: &TestApp, user: &SignedInUser) -> Value {
    let me = restricted(app, user).get(ME).await.json();
    assert_eq!(me["is_restricted"], !me["restricted_reason"].is_null());
    me["restricted_reason"].clone()
}

/// The claims of a new access token.
pub(super) async fn refreshed(app: &TestApp, user: &SignedInUser) -> Value {
    let refresh = app.client().with("x-stack-refresh-token", &user.refresh_token);
    let answer = refresh.post("/api/v1/auth/sessions/current/refresh", json!({})).await;
    assert_eq!(answer.status(), 200, "{}", answer.text());
    super::mfa_sign_in::claims(&answer.json()["access_token"])
}

/// Sets up an app, as restricted users may.
pub(super) async fn enrol(app: &TestApp, user: &SignedInUser) {
    let begun = restricted(app, user).post("/api/v1/auth/mfa/authenticators", json!({})).await;
    assert_eq!(begun.status(), 201, "{}", begun.text());
    let phone = super::mfa_authenticators::Phone::of(&begun.json());
    let body = json!({ "code": phone.code, "totp": phone.shows(app) });
    let answer = restricted(app, user).post("/api/v1/auth/mfa/authenticators/verify", body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text());
}

#[tokio::test]
async fn everyone_is_restricted_until_a_second_factor_is_set_up() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up(ADA).await, app.sign_up("bob@example.com").await);
    set_up(&app, &bob).await;
    require(&app, json!({ "required_of_everyone": true })).await;
    assert_eq!(reason_of(&app, &ada).await, reason());
    assert_eq!(
        assert_error(&app.signed_in(&ada).get(ME).await, 403, "RESTRICTED_USER_NOT_ALLOWED"),
        json!({ "restricted_reason": reason() })
    );
    assert_eq!(app.signed_in(&bob).get(ME).await.status(), 200);
    let claims = refreshed(&app, &ada).await;
    assert_eq!((&claims["is_restricted"], &claims["restricted_reason"]), (&json!(true), &reason()));
    assert!(claims["aud"].as_str().unwrap().ends_with(":restricted"), "{claims}");
    // New users are also restricted.
    let carol = app.sign_up("carol@example.com").await;
    assert_eq!(reason_of(&app, &carol).await, reason());
    let server = app.server().get(&format!("/api/v1/users/{}", ada.user_id)).await.json();
    assert_eq!((&server["is_restricted"], &server["restricted_by_admin"]), (&json!(true), &json!(false)));

    enrol(&app, &ada).await;
    assert_eq!(app.signed_in(&ada).get(ME).await.json()["restricted_reason"], Value::Null);
    assert_eq!(refreshed(&app, &ada).await["is_restricted"], false);
    // Disabling the second factor restricts the user again. The SDK's operation can also set up an
    // app.
    let own = app.signed_in(&ada);
    assert_eq!(own.patch(ME, json!({ "totp_secret_base64": null })).await.json()["restricted_reason"], reason());
    let set = restricted(&app, &ada).patch(ME, json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" })).await;
    assert_eq!(set.json()["is_restricted"], false);
    require(&app, json!({ "required_of_everyone": false })).await;
    assert_eq!(reason_of(&app, &carol).await, Value::Null);
}

/// Someone who knows only the password must not benefit from the owner's second factor.
#[tokio::test]
async fn the_first_app_ends_the_sessions_that_were_restricted_without_it() {
    let secret = json!({ "totp_secret_base64": "MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=" });
    for way in ["app", "secret", "server"] {
        let app = TestApp::start().await;
        require(&app, json!({ "required_of_everyone": true })).await;
        let (thief, owner) = (app.sign_up(ADA).await, app.sign_in(ADA).await);
        assert_eq!(reason_of(&app, &thief).await, reason());
        match way {
            "app" => enrol(&app, &owner).await,
            "secret" => assert_eq!(restricted(&app, &owner).patch(ME, secret.clone()).await.status(), 200),
            _ => {
                let path = format!("/api/v1/users/{}", owner.user_id);
                assert_eq!(app.server().patch(&path, secret.clone()).await.status(), 200);
            }
        }
        assert_error(&restricted(&app, &thief).get(ME).await, 401, "ACCESS_TOKEN_EXPIRED");
        let refresh = app.client().with("x-stack-refresh-token", &thief.refresh_token);
        assert_eq!(refresh.post("/api/v1/auth/sessions/current/refresh", json!({})).await.status(), 401, "{way}");
        if way == "server" {
            assert_eq!(restricted(&app, &owner).get(ME).await.status(), 401);
        } else {
            assert_eq!(app.signed_in(&owner).get(ME).await.json()["restricted_reason"], Value::Null);
            assert_eq!(refreshed(&app, &owner).await["is_restricted"], false);
        }
    }
}

/// A session that started before the first app was set up proves only one factor, even if the
/// project requires two factors later.
#[tokio::test]
async fn a_session_older_than_the_app_needs_its_code_once_it_is_required() {
    let app = TestApp::start().await;
    let (other, owner) = (app.sign_up(ADA).await, app.sign_in(ADA).await);
    app.advance(SignedDuration::from_secs(1));
    let (phone, _) = set_up(&app, &owner).await;
    assert_eq!(app.signed_in(&other).get(ME).await.status(), 200);
    require(&app, json!({ "required_of_everyone": true })).await;
    assert_eq!((reason_of(&app, &owner).await, reason_of(&app, &other).await), (Value::Null, reason()));
    assert_eq!(refreshed(&app, &owner).await["is_restricted"], false);
    assert_error(&app.signed_in(&other).get(ME).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    let session = restricted(&app, &other);
    for (method, path, body) in [
        ("POST", "/api/v1/auth/mfa/authenticators", json!({})),
        ("PATCH", ME, json!({ "totp_secret_base64": null })),
        ("PATCH", ME, json!({ "display_name": "Ada" })),
        ("POST", "/api/v1/auth/mfa/recovery-codes", json!({})),
    ] {
        let answer = session.request(method, path).json(&body).send().await;
        assert_error(&answer, 403, "REAUTHENTICATION_REQUIRED");
    }
    // Adding a second app to the owner's account changes nothing. A code from an app is accepted
    // only after the password, because the app is newer than the session.
    app.advance(SignedDuration::from_secs(30));
    enrol(&app, &owner).await;
    assert_eq!(app.signed_in(&owner).get(ME).await.status(), 200);
    let prove = |proof: Value| {
        let session = session.clone();
        async move { session.post(REAUTHENTICATE, proof).await }
    };
    assert_error(&prove(json!({ "totp": phone.shows(&app) })).await, 403, "REAUTHENTICATION_REQUIRED");
    assert_eq!(prove(json!({ "password": "correct horse battery" })).await.status(), 200);
    assert_eq!(reason_of(&app, &other).await, reason());
    assert_eq!(prove(json!({ "totp": phone.shows(&app) })).await.status(), 200);
    assert_eq!(app.signed_in(&other).get(ME).await.status(), 200);
    assert_eq!(refreshed(&app, &other).await["is_restricted"], false);
}

/// A server vouches for the user when it creates a session. The session therefore stays
/// unrestricted even if the user later proves only one factor.
#[tokio::test]
async fn a_session_by_a_server_stays_as_good_as_its_word() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    set_up(&app, &ada).await;
    require(&app, json!({ "required_of_everyone": true })).await;
    let body = json!({ "user_id": ada.user_id });
    let created = app.server().post("/api/v1/auth/sessions", body).await.json();
    let field = |name: &str| created[name].as_str().unwrap().to_owned();
    let created = SignedInUser { access_token: field("access_token"), refresh_token: field("refresh_token"), ..ada };
    assert_eq!(app.signed_in(&created).get(ME).await.status(), 200);
    let proved = app.signed_in(&created).post(REAUTHENTICATE, json!({ "password": "correct horse battery" })).await;
    assert_eq!(proved.status(), 200, "{}", proved.text());
    assert_eq!(app.signed_in(&created).get(ME).await.status(), 200);
}

#[tokio::test]
async fn holders_of_a_permission_are_restricted_even_if_another_one_confers_it() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up(ADA).await, app.sign_up("bob@example.com").await);
    for definition in [json!({ "id": "billing" }), json!({ "id": "finance", "contained_permission_ids": ["billing"] })] {
        assert_eq!(app.admin().post("/api/v1/project-permission-definitions", definition).await.status(), 201);
    }
    require(&app, json!({ "required_of_permissions": ["billing"] })).await;
    assert_eq!(reason_of(&app, &ada).await, Value::Null);
    let grant = format!("/api/v1/project-permissions/{}/finance", ada.user_id);
    assert_eq!(app.server().post(&grant, json!({})).await.status(), 201);
    assert_eq!((reason_of(&app, &ada).await, reason_of(&app, &bob).await), (reason(), Value::Null));
    // The rule follows the permission when its id changes.
    let renamed = app.admin().patch("/api/v1/project-permission-definitions/billing", json!({ "id": "invoices" })).await;
    assert_eq!(renamed.status(), 200, "{}", renamed.text());
    assert_eq!(reason_of(&app, &ada).await, reason());
    let project = app.admin().get("/api/v1/internal/projects/current").await.json();
    assert_eq!(project["config"]["second_factor"]["required_of_permissions"], json!(["invoices"]));
    assert_eq!(app.server().request("DELETE", &grant).send().await.status(), 200);
    assert_eq!(reason_of(&app, &ada).await, Value::Null);
    let unknown = json!({ "config": { "second_factor": { "required_of_permissions": ["team_admin"] } } });
    assert_eq!(app.admin().patch("/api/v1/internal/projects/current", unknown).await.status(), 400);
}

#[tokio::test]
async fn members_of_a_team_are_restricted_when_they_join_sign_in_or_refresh() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up(ADA).await, app.sign_up("bob@example.com").await);
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines" })).await.json()["id"].clone();
    let membership = |user: &SignedInUser| format!("/api/v1/team-memberships/{}/{}", team.as_str().unwrap(), user.user_id);
    assert_eq!(app.server().post(&membership(&ada), json!({})).await.status(), 201);
    require(&app, json!({ "required_of_teams": [team] })).await;
    // An existing member is restricted as soon as the member gets a new access token.
    assert_eq!(reason_of(&app, &ada).await, Value::Null);
    assert_eq!(refreshed(&app, &ada).await["restricted_reason"], reason());
    assert_eq!(reason_of(&app, &ada).await, reason());
    // A user who joins is restricted immediately.
    assert_eq!((reason_of(&app, &bob).await, refreshed(&app, &bob).await["is_restricted"].clone()), (Value::Null, json!(false)));
    assert_eq!(app.server().post(&membership(&bob), json!({})).await.status(), 201);
    assert_eq!(reason_of(&app, &bob).await, reason());

    assert_eq!(app.server().request("DELETE", &membership(&bob)).send().await.status(), 200);
    let again = app.sign_in("bob@example.com").await;
    assert_eq!(reason_of(&app, &again).await, Value::Null);
    assert_eq!(app.server().post(&membership(&bob), json!({})).await.status(), 201);
    require(&app, json!({ "required_of_teams": [] })).await;
    assert_eq!(reason_of(&app, &bob).await, Value::Null);
    require(&app, json!({ "required_of_teams": [team] })).await;
    enrol(&app, &ada).await;
    assert_eq!(reason_of(&app, &ada).await, Value::Null);
}

#[tokio::test]
async fn a_sign_in_notes_the_teams_of_a_member() {
    let app = TestApp::start().await;
    let ada = app.sign_up(ADA).await;
    app.configure(json!({ "config": { "magic_link_enabled": true } })).await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines" })).await.json()["id"].clone();
    let path = format!("/api/v1/team-memberships/{}/{}", team.as_str().unwrap(), ada.user_id);
    assert_eq!(app.server().post(&path, json!({})).await.status(), 201);
    require(&app, json!({ "required_of_teams": [team] })).await;
    let by_password = app.sign_in(ADA).await;
    assert_eq!(super::mfa_sign_in::claims(&json!(by_password.access_token))["restricted_reason"], reason());
    app.server()
        .patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "primary_email_verified": true, "otp_auth_enabled": true }))
        .await;
    let by_mail = app.sign_in_by_mail(ADA).await;
    assert_eq!(reason_of(&app, &by_mail).await, reason());
    // An administrator's restriction takes precedence, so the user cannot even set up a second
    // factor.
    app.advance(SignedDuration::from_secs(1));
    app.server().patch(&format!("/api/v1/users/{}", ada.user_id), json!({ "restricted_by_admin": true })).await;
    assert_eq!(reason_of(&app, &by_mail).await, json!({ "type": "restricted_by_administrator" }));
    assert_error(&verify(&app, &by_mail, &"a".repeat(45), "000000").await, 403, "RESTRICTED_USER_NOT_ALLOWED");
}

#[tokio::test]
async fn the_settings_are_part_of_the_configuration() {
    let app = TestApp::start().await;
    let team = app.server().post("/api/v1/teams", json!({ "display_name": "Engines" })).await.json()["id"].clone();
    assert_eq!(app.admin().post("/api/v1/project-permission-definitions", json!({ "id": "billing" })).await.status(), 201);
    let set = json!({ "remember_device_days": 30, "required_of_everyone": true, "required_of_teams": [team], "required_of_permissions": ["billing"] });
    require(&app, set.clone()).await;
    assert_eq!(app.admin().get("/api/v1/internal/projects/current").await.json()["config"]["second_factor"], set);
    let text = app.admin().get("/api/v1/internal/config").await.json()["config_string"].as_str().unwrap().to_owned();
    let config: Value = serde_json::from_str(&text).unwrap();
    let teams = json!({ team.as_str().unwrap(): true });
    let expected = json!({ "rememberDeviceDays": 30, "requiredOfEveryone": true, "requiredOfTeams": teams, "requiredOfPermissions": { "billing": true } });
    assert_eq!(config["auth"]["secondFactor"], expected);
    let values = json!({ "auth.secondFactor.requiredOfEveryone": false, "auth.secondFactor.rememberDeviceDays": 7 }).to_string();
    let changed = app.admin().patch("/api/v1/internal/config/override/environment", json!({ "config_override_string": values })).await;
    assert_eq!(changed.status(), 200, "{}", changed.text());
    let after = app.admin().get("/api/v1/internal/projects/current").await.json()["config"]["second_factor"].clone();
    assert_eq!((&after["required_of_everyone"], &after["remember_device_days"]), (&json!(false), &json!(7)));
    assert_eq!(after["required_of_teams"], json!([team]));
    let wrong = json!({ "auth.secondFactor.rememberDeviceDays": 91 }).to_string();
    let refused = app.admin().patch("/api/v1/internal/config/override/environment", json!({ "config_override_string": wrong })).await;
    assert_eq!(refused.status(), 400);
    assert!(refused.text().contains("auth.secondFactor.rememberDeviceDays"), "{}", refused.text());
}
