//! Calls every operation that authenticates its caller, with the access token of a locked-out user.
//! The session has ended, or the user is restricted, deleted or anonymous. The operations come from
//! the routes, and the requests come from the files in `events/`. The test therefore covers new
//! operations automatically.

use std::collections::BTreeSet;

use api::http::{Admission, Interface, Verb};
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
/// Two events whose access tokens belong to a user with a password and to a user without one.
const WITH_PASSWORD: &str = "users/me-read";
const WITHOUT_PASSWORD: &str = "auth/password-set";
/// The event of the operation that starts a linking flow. [`begin_link`] adds the parameters for
/// linking.
const LINK: &str = "auth/oauth-authorize";

/// The ways to lock a user out, with the error for the user's access token.
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

/// The client operations, apart from GETs, that users restricted by an administrator may still
/// call.
const OPEN_TO_RESTRICTED: [&str; 19] = [
    "auth-anonymous-sign-up",
    "auth-mfa-sign-in",
    "auth-otp-check-sign-in-code",
    "auth-otp-send-sign-in-code",
    "auth-passkey-initiate-authentication",
    "auth-passkey-sign-in",
    "auth-password-check-reset-code",
    "auth-password-reset",
    "auth-password-send-reset-code",
    "auth-password-sign-in",
    "auth-session-delete-current",
    "auth-session-refresh",
    "openid-authorization-complete",
    "openid-logout-begin",
    "teams-invitation-accept",
    "teams-invitation-check-code",
    "teams-invitation-details",
    "users-contact-channel-check-code",
    "users-contact-channel-verify",
];

/// The operations that authenticate the caller.
fn proving() -> Vec<Operation> {
    let proves = |operation: &Operation| operation.route.interface == Interface::Product && operation.description.level.is_some();
    operations::all().into_iter().filter(proves).collect()
}

fn token_of(world: &World, event: &str) -> String {
    world.request(event).headers()[TOKEN].to_str().unwrap().to_owned()
}

fn for_project(caller: Caller, level: &str, key: (&str, &str)) -> Caller {
    caller.with("x-stack-project-id", PROJECT).with("x-stack-access-type", level).with(key.0, &format!("{}{KEY}", key.1))
}

fn server(world: &World) -> Caller {
    for_project(world.app.anonymous(), "server", ("x-stack-secret-server-key", "ssk_"))
}

fn signed_in(world: &World, token: &str) -> Caller {
    for_project(world.app.anonymous(), "client", ("x-stack-publishable-client-key", "pck_")).with("x-stack-access-token", token)
}

/// Locks out the user of this access token.
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
        // A password change requires a password, so the user without one is signed out everywhere
        // by another session instead.
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
        end => panic!("no action is defined for {end}"),
    };
    assert_eq!(done.status(), 200, "{end}: {}", done.text());
}

/// No operation makes ordinary users anonymous.
async fn make_anonymous(world: &World, id: &str) {
    let (store, project) = (&world.app.app.store, ProjectId::parse(PROJECT).unwrap());
    let mut row = store.user(&project, UserId::parse(id).unwrap()).await.unwrap().unwrap();
    row.user.is_anonymous = true;
    store.write(user::replace(&project, &row.user, row.version).unwrap()).await.unwrap();
}

/// Sends the event of the operation. If the event does not contain an access token, it is sent with
/// this access token.
async fn send(world: &World, operation: &Operation, token: &str) -> Answer {
    let mut request = world.request(&name(operation));
    if !request.headers().contains_key(TOKEN) {
        request.headers_mut().insert(TOKEN, token.parse::<HeaderValue>().unwrap());
    }
    Answer::read(world.app.answer(request).await).await
}

/// Starts to link a provider account. The access token is in the query, because a browser that
/// navigates to this operation cannot send a header.
async fn begin_link(world: &World, token: &str) -> Answer {
    let mut request = world.request(LINK);
    let uri = request.uri().to_string().replace("type=authenticate", &format!("type=link&token={token}"));
    *request.uri_mut() = uri.parse().unwrap();
    Answer::read(world.app.answer(request).await).await
}

/// The project in the event of an operation.
fn project_of(world: &World, operation: &Operation) -> String {
    world.request(&name(operation)).headers()["x-service-project-id"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_locked_out_user_can_use_no_operation() {
    let world = World::unobserved(Limits::off()).await;
    // Owners of projects are users of another project, and a separate test covers them.
    let operations: Vec<Operation> = proving().into_iter().filter(|operation| project_of(&world, operation) == PROJECT).collect();
    drop(world);
    for (end, status, code) in ENDS {
        let world = World::unobserved(Limits::off()).await;
        let tokens = [WITH_PASSWORD, WITHOUT_PASSWORD].map(|event| token_of(&world, event));
        for token in &tokens {
            put_out(&world, token, end).await;
        }
        let before = world.app.rows();
        let mut refused = BTreeSet::new();
        for operation in &operations {
            let answer = send(&world, operation, &tokens[0]).await;
            let what = format!("{}, {end}", operation.route.name);
            assert_eq!((answer.status(), answer.code().as_str()), (status, code), "{what}: {}", answer.text());
            assert_eq!(world.app.rows(), before, "{what}");
            refused.insert(operation.route.name);
        }
        for known in ["users-me-update", "auth-password-set", "teams-team-delete", "users-user-update", "projects-internal-current-update"]
        {
            assert!(refused.contains(known), "{refused:?}");
        }
        for token in &tokens {
            // Anonymous users may start this flow, because they sign up with it.
            if end != "anonymous" {
                assert_error(&begin_link(&world, token).await, status, code);
            }
        }
        assert_eq!(world.app.rows(), before, "{end}");
    }
}

#[tokio::test]
async fn a_signed_out_owner_can_do_nothing_with_projects() {
    let world = World::unobserved(Limits::off()).await;
    let own: Vec<Operation> = proving().into_iter().filter(|operation| project_of(&world, operation) != PROJECT).collect();
    assert!(own.iter().any(|operation| operation.route.name == "projects-internal-create"));
    let token = token_of(&world, &name(&own[0]));
    let client = world.app.anonymous().with("x-stack-project-id", "internal").with("x-stack-access-type", "client");
    assert_eq!(client.with("x-stack-access-token", &token).delete("/api/v1/auth/sessions/current").await.status(), 200);
    let before = world.app.rows();
    for operation in own {
        assert_error(&send(&world, &operation, &token).await, 401, "ACCESS_TOKEN_EXPIRED");
        assert_eq!(world.app.rows(), before, "{}", operation.route.name);
    }
}

/// The headers of a request state which kinds of users the request accepts. The published SDK
/// always accepts all kinds.
#[tokio::test]
async fn a_restricted_user_cannot_write_even_if_the_request_allows_it() {
    let world = World::unobserved(Limits::off()).await;
    let tokens = [WITH_PASSWORD, WITHOUT_PASSWORD].map(|event| token_of(&world, event));
    for token in &tokens {
        put_out(&world, token, "restricted").await;
    }
    let before = world.app.rows();
    // Server requests are not included, because servers may write on behalf of a restricted user.
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
            if operation.route.admission == Admission::Restricted {
                open.insert(operation.route.name);
                continue;
            }
            let answer = Answer::read(world.app.answer(request).await).await;
            assert_eq!((answer.status(), answer.code().as_str()), (403, "RESTRICTED_USER_NOT_ALLOWED"), "{}", operation.route.name);
            assert_eq!(world.app.rows(), before, "{}", operation.route.name);
        }
    }
    // The user can still sign out and make requests that also work without a token. Two requests
    // have special responses for restricted users: accepting an invitation, and signing in to a
    // client.
    assert_eq!(open, BTreeSet::from(OPEN_TO_RESTRICTED));
}

/// The requests succeed here. In the other tests, the requests therefore fail only because the user
/// is locked out.
#[tokio::test]
async fn the_same_requests_succeed_with_a_live_session() {
    for operation in proving() {
        let world = World::unobserved(Limits::off()).await;
        if !world.request(&name(&operation)).headers().contains_key(TOKEN) {
            continue;
        }
        let answer = send(&world, &operation, "").await;
        assert_eq!(answer.status(), success(&operation), "{}: {}", operation.route.name, answer.text());
    }
    let world = World::unobserved(Limits::off()).await;
    let began = begin_link(&world, &token_of(&world, WITH_PASSWORD)).await;
    assert!(began.status() == 200 && began.json()["location"].is_string(), "{}", began.text());
}

/// A refresh token is valid as long as its session exists, and restricted and anonymous users keep
/// their sessions.
#[tokio::test]
async fn only_restricted_and_anonymous_users_still_get_new_access_tokens() {
    for (end, ..) in ENDS {
        let world = World::unobserved(Limits::off()).await;
        put_out(&world, &token_of(&world, WITH_PASSWORD), end).await;
        let before = world.app.rows();
        let refreshed = world.send("auth/session-refresh").await;
        let exchanged = world.send("auth/oauth-token").await;
        if ["restricted", "anonymous"].contains(&end) {
            // The new token says that the user is restricted or anonymous, so it permits no more
            // than the old token.
            let token = refreshed.json()["access_token"].as_str().unwrap().to_owned();
            let answer = signed_in(&world, &token).get("/api/v1/users/me").await;
            assert!([401, 403].contains(&answer.status()), "{end}: {}", answer.text());
        } else {
            assert_error(&refreshed, 401, "REFRESH_TOKEN_NOT_FOUND_OR_EXPIRED");
            assert_ne!(exchanged.status(), 200, "{end}: {}", exchanged.text());
            // If the session still exists, only its time of last use has changed.
            let after = world.app.rows();
            let changed = before.changed(&after);
            assert!(changed.iter().all(|(_, sk)| sk.starts_with("SESSION#")), "{end}: {changed:?}");
        }
    }
}

/// A restriction applies to the user and not to the token. A token that was issued before the
/// restriction cannot write while the restriction lasts, and can write again once it is lifted.
#[tokio::test]
async fn lifting_a_restriction_restores_everything() {
    let world = World::unobserved(Limits::off()).await;
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

/// The user id in an access token's claims.
fn user_id(token: &str) -> String {
    use base64::Engine as _;
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
    serde_json::from_slice::<Value>(&claims).unwrap()["sub"].as_str().unwrap().to_owned()
}
