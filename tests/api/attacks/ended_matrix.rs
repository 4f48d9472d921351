//! Every operation there is, by the access token of somebody who is out: a session that has ended, a user who is restricted, deleted or
//! anonymous. The operations come from the routes and their requests from the events, so a new operation is among them by being one.

use std::collections::BTreeSet;

use api::http::{Interface, Verb};
use http::HeaderValue;
use infra::{Operation, operations};
use model::limit::Limits;
use serde_json::{Value, json};
use store::user;
use support::{Answer, Caller};
use wire::id::{ProjectId, UserId};

use super::{NEW, PASSWORD};
use crate::auth::assert_error;
use crate::events::{KEY, PROJECT, World, name, success};

const TOKEN: &str = "x-service-access-token";
/// Operations whose events have the access tokens of the two users that the events speak of.
const WITH_PASSWORD: &str = "users/me-read";
const WITHOUT_PASSWORD: &str = "auth/password-set";
/// How a flow that links an account begins, besides what its event says.
const LINK: &str = "auth/oauth-authorize";

/// What puts a user out, and what their access token gets from then on.
const ENDS: [(&str, u16, &str); 10] = [
    ("signed out", 401, "ACCESS_TOKEN_EXPIRED"),
    ("password changed by another session", 401, "ACCESS_TOKEN_EXPIRED"),
    ("signed out everywhere by another session", 401, "ACCESS_TOKEN_EXPIRED"),
    ("session ended by the server", 401, "ACCESS_TOKEN_EXPIRED"),
    ("all sessions ended by the server", 401, "ACCESS_TOKEN_EXPIRED"),
    ("password set by the server", 401, "ACCESS_TOKEN_EXPIRED"),
    ("password removed by the server", 401, "ACCESS_TOKEN_EXPIRED"),
    ("deleted", 401, "ACCESS_TOKEN_EXPIRED"),
    ("restricted", 403, "RESTRICTED_USER_NOT_ALLOWED"),
    ("anonymous", 401, "ANONYMOUS_AUTHENTICATION_NOT_ALLOWED"),
];

/// What a user may send with an access token whom an administrator has restricted.
const OPEN_TO_RESTRICTED: [&str; 15] = [
    "auth-anonymous-sign-up",
    "auth-mfa-sign-in",
    "auth-otp-check-sign-in-code",
    "auth-otp-send-sign-in-code",
    "auth-password-check-reset-code",
    "auth-password-reset",
    "auth-password-send-reset-code",
    "auth-password-sign-in",
    "auth-session-delete-current",
    "auth-session-refresh",
    "teams-invitation-accept",
    "teams-invitation-check-code",
    "teams-invitation-details",
    "users-contact-channel-check-code",
    "users-contact-channel-verify",
];

/// Operations that prove who is calling.
fn proving() -> Vec<Operation> {
    let proves = |operation: &Operation| operation.route.interface == Interface::Product && operation.description.level.is_some();
    operations::all().into_iter().filter(proves).collect()
}

fn token_of(world: &World, event: &str) -> String {
    world.request(event).headers()[TOKEN].to_str().unwrap().to_owned()
}

fn of_project(caller: Caller, level: &str, key: (&str, &str)) -> Caller {
    caller.with("x-stack-project-id", PROJECT).with("x-stack-access-type", level).with(key.0, &format!("{}{KEY}", key.1))
}

fn server(world: &World) -> Caller {
    of_project(world.app.anonymous(), "server", ("x-stack-secret-server-key", "ssk_"))
}

fn signed_in(world: &World, token: &str) -> Caller {
    of_project(world.app.anonymous(), "client", ("x-stack-publishable-client-key", "pck_")).with("x-stack-access-token", token)
}

/// Puts the user of an access token out.
async fn put_out(world: &World, token: &str, end: &str) {
    let me = signed_in(world, token).get("/api/v1/users/me").await.json();
    let id = me["id"].as_str().unwrap();
    let (path, server) = (format!("/api/v1/users/{id}"), server(world));
    let elsewhere = async || {
        let begun = server.post("/api/v1/auth/sessions", json!({ "user_id": id })).await.json();
        signed_in(world, begun["access_token"].as_str().unwrap())
    };
    let done = match end {
        "signed out" => signed_in(world, token).delete("/api/v1/auth/sessions/current").await,
        "password changed by another session" if me["has_password"] == true => {
            let body = json!({ "old_password": PASSWORD, "new_password": NEW });
            elsewhere().await.post("/api/v1/auth/password/update", body).await
        }
        // Whoever has none sets one, which ends no session.
        "password changed by another session" | "signed out everywhere by another session" => {
            elsewhere().await.delete("/api/v1/auth/sessions?user_id=me").await
        }
        "session ended by the server" => {
            let sessions = signed_in(world, token).get("/api/v1/auth/sessions").await.json();
            let current = sessions["items"].as_array().unwrap().iter().find(|session| session["is_current_session"] == true).unwrap();
            server.delete(&format!("/api/v1/auth/sessions/{}", current["id"].as_str().unwrap())).await
        }
        "all sessions ended by the server" => server.delete(&format!("/api/v1/auth/sessions?user_id={id}")).await,
        "password set by the server" => server.patch(&path, json!({ "password": NEW })).await,
        "password removed by the server" => server.patch(&path, json!({ "password": null })).await,
        "deleted" => server.delete(&path).await,
        "restricted" => server.patch(&path, json!({ "restricted_by_admin": true })).await,
        "anonymous" => {
            make_anonymous(world, id).await;
            return;
        }
        end => panic!("nothing ends a session by being {end}"),
    };
    assert_eq!(done.status(), 200, "{end}: {}", done.text());
}

/// No operation makes an ordinary user anonymous.
async fn make_anonymous(world: &World, id: &str) {
    let (store, project) = (&world.app.app.store, ProjectId::parse(PROJECT).unwrap());
    let mut row = store.user(&project, UserId::parse(id).unwrap()).await.unwrap().unwrap();
    row.user.is_anonymous = true;
    store.write(user::replace(&project, &row.user, row.version).unwrap()).await.unwrap();
}

/// Sends the event of an operation with the access token that it has, or else this one.
async fn send(world: &World, operation: &Operation, token: &str) -> Answer {
    let mut request = world.request(&name(operation));
    if !request.headers().contains_key(TOKEN) {
        request.headers_mut().insert(TOKEN, token.parse::<HeaderValue>().unwrap());
    }
    Answer::read(world.app.answer(request).await).await
}

/// Begins to link an account at a provider: the access token is in the query, as a browser goes there.
async fn begin_link(world: &World, token: &str) -> Answer {
    let mut request = world.request(LINK);
    let uri = request.uri().to_string().replace("type=authenticate", &format!("type=link&token={token}"));
    *request.uri_mut() = uri.parse().unwrap();
    Answer::read(world.app.answer(request).await).await
}

/// The project of an event.
fn project_of(world: &World, operation: &Operation) -> String {
    world.request(&name(operation)).headers()["x-service-project-id"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn whoever_is_out_does_nothing_by_any_operation() {
    for (end, status, code) in ENDS {
        let world = World::new(Limits::off()).await;
        let tokens = [WITH_PASSWORD, WITHOUT_PASSWORD].map(|event| token_of(&world, event));
        for token in &tokens {
            put_out(&world, token, end).await;
        }
        let before = world.app.table();
        let mut refused = BTreeSet::new();
        // Owners of projects are users of another one.
        for operation in proving().iter().filter(|operation| project_of(&world, operation) == PROJECT) {
            let answer = send(&world, operation, &tokens[0]).await;
            let what = format!("{}, {end}", operation.route.name);
            assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{what}: {}", answer.text());
            assert_eq!(world.app.table(), before, "{what}");
            refused.insert(operation.route.name);
        }
        for known in ["users-me-update", "auth-password-set", "teams-team-delete", "users-user-update", "projects-internal-current-update"]
        {
            assert!(refused.contains(known), "{refused:?}");
        }
        for token in &tokens {
            // Somebody without an account yet may link one: that is how an anonymous user signs up.
            if end != "anonymous" {
                assert_error(&begin_link(&world, token).await, status, code);
            }
        }
        assert_eq!(world.app.table(), before, "{end}");
    }
}

#[tokio::test]
async fn whoever_owns_projects_and_is_out_does_nothing_with_them() {
    let world = World::new(Limits::off()).await;
    let own: Vec<Operation> = proving().into_iter().filter(|operation| project_of(&world, operation) != PROJECT).collect();
    assert!(own.iter().any(|operation| operation.route.name == "projects-internal-create"));
    let token = token_of(&world, &name(&own[0]));
    let client = world.app.anonymous().with("x-stack-project-id", "internal").with("x-stack-access-type", "client");
    assert_eq!(client.with("x-stack-access-token", &token).delete("/api/v1/auth/sessions/current").await.status(), 200);
    let before = world.app.table();
    for operation in own {
        assert_error(&send(&world, &operation, &token).await, 401, "ACCESS_TOKEN_EXPIRED");
        assert_eq!(world.app.table(), before, "{}", operation.route.name);
    }
}

/// What a request says it accepts is up to whoever sends it, and the published SDK always says that it accepts everybody.
#[tokio::test]
async fn a_restricted_user_writes_nothing_whatever_the_request_accepts() {
    let world = World::new(Limits::off()).await;
    let tokens = [WITH_PASSWORD, WITHOUT_PASSWORD].map(|event| token_of(&world, event));
    for token in &tokens {
        put_out(&world, token, "restricted").await;
    }
    let before = world.app.table();
    // What a server sends in the name of a user is up to the server.
    let of_clients = |operation: &Operation| {
        operation.route.verb != Verb::Get && world.request(&name(operation)).headers()["x-service-access-type"] == "client"
    };
    let mut open = BTreeSet::new();
    for operation in proving().iter().filter(|operation| of_clients(operation) && project_of(&world, operation) == PROJECT) {
        for token in &tokens {
            let mut request = world.request(&name(operation));
            for allowed in ["x-service-allow-restricted-user", "x-service-allow-anonymous-user"] {
                request.headers_mut().insert(allowed, HeaderValue::from_static("true"));
            }
            request.headers_mut().insert(TOKEN, token.parse().unwrap());
            if operation.route.is_open_to_restricted {
                open.insert(operation.route.name);
                continue;
            }
            let answer = Answer::read(world.app.answer(request).await).await;
            assert_eq!((answer.status(), answer.code().as_str()), (403, "RESTRICTED_USER_NOT_ALLOWED"), "{}", operation.route.name);
            assert_eq!(world.app.table(), before, "{}", operation.route.name);
        }
    }
    // Signing out, what somebody without a token may send as well, and accepting an invitation, which has an error of its own for them.
    assert_eq!(open, BTreeSet::from(OPEN_TO_RESTRICTED));
}

/// What the other tests send is refused for the session alone.
#[tokio::test]
async fn whoever_is_in_succeeds_with_the_same_requests() {
    for operation in proving() {
        let world = World::new(Limits::off()).await;
        if !world.request(&name(&operation)).headers().contains_key(TOKEN) {
            continue;
        }
        let answer = send(&world, &operation, "").await;
        assert_eq!(answer.status(), success(&operation), "{}: {}", operation.route.name, answer.text());
    }
    let world = World::new(Limits::off()).await;
    let began = begin_link(&world, &token_of(&world, WITH_PASSWORD)).await;
    assert!(began.status() == 200 && began.json()["location"].is_string(), "{}", began.text());
}

/// A refresh token is as good as its session.
#[tokio::test]
async fn whoever_is_out_gets_no_new_access_token_unless_only_restricted() {
    for (end, ..) in ENDS {
        let world = World::new(Limits::off()).await;
        put_out(&world, &token_of(&world, WITH_PASSWORD), end).await;
        let before = world.app.table();
        let refreshed = world.send("auth/session-refresh").await;
        let exchanged = world.send("auth/oauth-token").await;
        if ["restricted", "anonymous"].contains(&end) {
            // The new token says what its user is, and opens as little.
            let token = refreshed.json()["access_token"].as_str().unwrap().to_owned();
            let answer = signed_in(&world, &token).get("/api/v1/users/me").await;
            assert!([401, 403].contains(&answer.status()), "{end}: {}", answer.text());
        } else {
            assert_error(&refreshed, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
            assert_ne!(exchanged.status(), 200, "{end}: {}", exchanged.text());
            // The session that was used last, if it is still there, notes that.
            let after = world.app.table();
            let changed: Vec<_> = after.keys().filter(|key| before.get(*key) != after.get(*key)).collect();
            assert!(changed.iter().all(|(_, sk)| sk.starts_with("SESSION#")), "{end}: {changed:?}");
        }
    }
}

/// Restrictions are of the user and not of the token: it writes nothing with the one of before, and again once it is let in.
#[tokio::test]
async fn a_restriction_that_is_lifted_leaves_everything_as_it_was() {
    let world = World::new(Limits::off()).await;
    let token = token_of(&world, WITH_PASSWORD);
    put_out(&world, &token, "restricted").await;
    let own = signed_in(&world, &token);
    assert_error(&own.patch("/api/v1/users/me", json!({ "display_name": "Eve" })).await, 403, "RESTRICTED_USER_NOT_ALLOWED");
    let id = user_id(&token);
    let server = server(&world);
    let path = format!("/api/v1/users/{id}");
    assert_eq!(server.patch(&path, json!({ "restricted_by_admin": false })).await.status(), 200);
    let changed = own.patch("/api/v1/users/me", json!({ "display_name": "Ada" })).await;
    assert_eq!((changed.status(), &changed.json()["display_name"]), (200, &json!("Ada")));
}

/// Who an access token says it is of.
fn user_id(token: &str) -> String {
    use base64::Engine as _;
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice::<Value>(&claims).unwrap()["sub"].as_str().unwrap().to_owned()
}
