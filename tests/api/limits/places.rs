//! Writes by clients are counted by IP address, by network and by user. Pictures are counted
//! separately.

use std::collections::BTreeSet;

use infra::operations;
use jiff::SignedDuration;
use model::limit::{Limits, Rate, Rule, SubjectKind};
use serde_json::json;
use support::{SignedInUser, TestApp};
use wire::level::Level;

use super::{assert_refused, at, exhaust, is_refused, only};
use crate::events::{World, name};

const ME: &str = "/api/v1/users/me";
const PICTURE: &str = "data:image/png;base64,iVBORw0KGgo=";

/// Whether the operation's limit counts clients' requests by IP address, and whether it counts them
/// by network. The limit's remaining rules depend on the purpose of the operation.
fn by_place(operation: &infra::Operation) -> (bool, bool) {
    let rules = operation.route.limit.map_or(&[][..], |limit| limit.early_rules(true));
    let has = |wanted: SubjectKind| rules.iter().any(|(_, by)| *by == wanted);
    (has(SubjectKind::Address), has(SubjectKind::Network))
}

/// The write operations that clients can call. Requests by servers are counted by key.
fn writes_of_clients() -> impl Iterator<Item = infra::Operation> {
    let is_of_client = |operation: &infra::Operation| operation.description.level.is_none_or(|level| level == Level::Client);
    operations::all().into_iter().filter(move |operation| operation.route.limit.is_some() && is_of_client(operation))
}

/// Whether an event contains a server key, in which case the request is counted by this key.
fn is_of_server(world: &World, event: &str) -> bool {
    world.request(event).headers().get("x-service-access-type").is_some_and(|level| level == "server")
}

/// Operations without a session whose requests are counted in a different way, each with the
/// reason.
const OTHERWISE: [(&str, &str); 7] = [
    ("auth-challenge-create", "writes nothing, and is counted by address"),
    ("auth-oauth-client-introspect", "writes nothing, and is counted by its client"),
    ("auth-oauth-client-push", "is counted by its client, which has proved its secret; a public client is counted by address"),
    ("auth-oauth-client-revoke", "is counted by its client, which has proved its secret; a public client is counted by address"),
    ("auth-oauth-client-token", "is counted by its client, which has proved its secret; a public client is counted by address"),
    ("edge-check-version", "writes nothing, and is counted in memory"),
    ("keys-exposed-key-revoke", "is counted in memory by address: whoever found the key may use any number of keys"),
];

#[tokio::test]
async fn every_write_of_a_client_is_counted_by_address_and_network() {
    let mut checked = 0;
    for operation in writes_of_clients() {
        let route = &operation.route;
        if OTHERWISE.iter().any(|(other, _)| *other == route.name) {
            continue;
        }
        assert_eq!(by_place(&operation), (true, true), "{}", route.name);
        let world = World::new(Limits::standard()).await;
        if is_of_server(&world, &name(&operation)) {
            continue;
        }
        world.app.recorder.clear();
        world.app.app.memory.forget();
        let answer = world.send(&name(&operation)).await;
        // Links in emails are counted by code, no matter who follows them. The tests are in
        // `limits::codes`.
        let in_table = world.app.recorder.writes().iter().flat_map(|(_, body)| counters(body)).collect::<BTreeSet<_>>();
        let in_memory = world.app.app.memory.batched();
        let counted = |subject: &str| in_table.iter().chain(&in_memory).any(|counter| counter.contains(&format!("#{subject}#")));
        let is_link = in_table.iter().any(|counter| counter.contains("#code#")) && operation.description.level.is_none();
        let is_counted = counted("0.0.0.0") && counted("0.0.0.0/24");
        assert!(is_counted || is_link, "{} ({}): {in_table:?} {in_memory:?}", route.name, answer.status());
        checked += 1;
    }
    assert!(checked > 50, "{checked} operations");
}

/// A client with many addresses but few accounts is limited by account.
#[tokio::test]
async fn every_write_of_a_signed_in_client_is_counted_by_user_or_session() {
    let mut checked = 0;
    for operation in writes_of_clients() {
        let world = World::new(Limits::standard()).await;
        let event = name(&operation);
        if is_of_server(&world, &event) || !world.request(&event).headers().contains_key("x-service-access-token") {
            continue;
        }
        world.app.recorder.clear();
        world.app.app.memory.forget();
        let answer = world.send(&event).await;
        let in_table = world.app.recorder.writes().iter().flat_map(|(_, body)| counters(body)).collect::<BTreeSet<_>>();
        let counted: Vec<String> = in_table.into_iter().chain(world.app.app.memory.batched()).collect();
        // Only the ids of users and sessions have this form.
        let is_of_user = |counter: &String| counter.split('#').nth(2).is_some_and(|subject| uuid::Uuid::parse_str(subject).is_ok());
        assert!(counted.iter().any(is_of_user), "{} ({}): {counted:?}", operation.route.name, answer.status());
        checked += 1;
    }
    assert!(checked > 30, "{checked} operations");
}

#[tokio::test]
async fn a_user_at_many_addresses_has_one_limit_of_codes_emails_and_proofs() {
    let reset = "/api/v1/auth/sessions/current/reauthenticate";
    let redeem = "/api/v1/team-invitations/accept";
    let invite = "/api/v1/team-invitations/send-code";
    for (rule, limit, path) in
        [(Rule::SignInUser, "sign-in", reset), (Rule::CodeUser, "code", redeem), (Rule::SendCodeCaller, "send-code", invite)]
    {
        let app = TestApp::start_with(only(rule, 12, 600)).await;
        let users = users(&app, 2).await;
        let looms = crate::teams::team(&app, "Looms", Some(&users[0])).await;
        let body = |number: usize| match rule {
            Rule::SignInUser => json!({ "password": "a wrong password" }),
            Rule::CodeUser => json!({ "code": format!("{number:045}") }),
            _ => json!({ "team_id": looms, "email": format!("guest{number}@example.com"), "callback_url": "http://localhost:3000/x" }),
        };
        let (let_through, refused) = exhaust(|number| {
            let caller = at(app.signed_in(&users[0]), &format!("203.0.{number}.7"));
            async move { caller.post(path, body(number)).await }
        })
        .await;
        assert_eq!(let_through, 12, "{rule:?}");
        assert_refused(&refused, limit, Rate::new(12, 600));
        assert!(!is_refused(&at(app.signed_in(&users[1]), "203.0.113.7").post(path, body(99)).await), "{rule:?}");
        assert!(!is_refused(&app.client().post(path, body(99)).await), "{rule:?}: nobody's request counts for the user");
    }
}

/// The names of the counters that a call increments.
fn counters(body: &str) -> Vec<String> {
    body.split("\"L#").skip(1).filter_map(|rest| rest.split('"').next()).map(str::to_owned).collect()
}

async fn users(app: &TestApp, count: usize) -> Vec<SignedInUser> {
    let mut users = Vec::new();
    for number in 0..count {
        users.push(app.sign_up(&format!("user{number}@example.com")).await);
    }
    users
}

#[tokio::test]
async fn all_users_of_an_address_and_of_a_network_share_a_limit() {
    let (by_address, by_network) = (Rate::new(25, 60), Rate::new(40, 60));
    let limits = only(Rule::WriteAddress, 25, 60).with(Rule::WriteNetwork, Some(by_network));
    let app = TestApp::start_with(limits).await;
    let users = users(&app, 3).await;
    let write = |number: usize, address: String| {
        let caller = at(app.signed_in(&users[number % 3]), &address);
        async move { caller.patch(ME, json!({ "display_name": "Ada" })).await }
    };
    let (let_through, refused) = exhaust(|number| write(number, "203.0.113.7".to_owned())).await;
    assert_eq!(let_through, 25);
    assert_refused(&refused, "write", by_address);
    // Another IP address gets the rest of the network's quota, and another network gets the full
    // quota.
    let (let_through, refused) = exhaust(|number| write(number, "203.0.113.8".to_owned())).await;
    assert_eq!(let_through, 15);
    assert_refused(&refused, "write", by_network);
    let (let_through, _) = exhaust(|number| write(number, "203.0.114.7".to_owned())).await;
    assert_eq!(let_through, 25);
    app.advance(SignedDuration::from_secs(120));
    assert_eq!(write(0, "203.0.113.7".to_owned()).await.status(), 200);
}

#[tokio::test]
async fn every_tenth_write_is_counted_in_the_table_and_the_others_cost_nothing() {
    let app = TestApp::start_with(only(Rule::WriteAddress, 100, 60)).await;
    let ada = app.sign_up("ada@example.com").await;
    let mut counted = Vec::new();
    for _ in 0..30 {
        app.recorder.clear();
        assert_eq!(at(app.signed_in(&ada), "203.0.113.7").patch(ME, json!({ "display_name": "Ada" })).await.status(), 200);
        counted.push(app.recorder.writes().iter().flat_map(|(_, body)| counters(body)).count());
    }
    assert_eq!(counted.iter().sum::<usize>(), 3, "{counted:?}");
    // Another process, which knows only the counts in the table, also refuses requests above the
    // quota.
    app.app.memory.forget();
    let (let_through, _) = exhaust(|_| {
        let caller = at(app.signed_in(&ada), "203.0.113.7");
        async move { caller.patch(ME, json!({ "display_name": "Ada" })).await }
    })
    .await;
    assert!((70..=80).contains(&let_through), "{let_through}");
}

/// Calls each operation whose limits are all counted in memory first, with a request that is
/// counted.
#[tokio::test]
async fn every_batched_count_reaches_the_table_at_the_tenth_request() {
    let mut checked = 0;
    for operation in operations::all() {
        let Some(limit) = operation.route.limit.filter(|limit| limit.is_in_table()) else { continue };
        let rules = limit.early_rules(true);
        if rules.is_empty() || !rules.iter().all(|(rule, _)| rule.is_batched()) {
            continue;
        }
        let world = World::new(Limits::standard()).await;
        world.app.app.memory.forget();
        let mut counted = Vec::new();
        for _ in 0..10 {
            world.app.recorder.clear();
            world.send(&name(&operation)).await;
            let in_table = world.app.recorder.writes().iter().flat_map(|(_, body)| counters(body)).collect::<Vec<_>>();
            let is_batched = |name: &str| Rule::ALL.iter().any(|rule| rule.is_batched() && rule.name() == name);
            counted.push(in_table.iter().filter(|counter| counter.split('#').nth(1).is_some_and(is_batched)).count());
        }
        let (last, before) = counted.split_last().unwrap();
        assert!(*last > 0 && before.iter().all(|count| *count == 0), "{}: {counted:?}", operation.route.name);
        checked += 1;
    }
    assert!(checked > 5, "{checked} operations");
}

#[tokio::test]
async fn a_long_body_counts_as_several_writes_even_if_it_is_refused() {
    let app = TestApp::start_with(only(Rule::WriteAddress, 100, 60)).await;
    let ada = app.sign_up("ada@example.com").await;
    let text = "x".repeat(30_000);
    for (address, body, status) in
        [("203.0.113.7", json!({ "client_metadata": { "text": text } }), 200), ("203.0.113.8", json!({ "is_administrator": text }), 400)]
    {
        let first = at(app.signed_in(&ada), "203.0.113.9").patch(ME, body.clone()).await;
        assert_eq!(first.status(), status, "{}", first.text());
        let (let_through, _) = exhaust(|_| {
            let (caller, body) = (at(app.signed_in(&ada), address), body.clone());
            async move { caller.patch(ME, body).await }
        })
        .await;
        assert_eq!(let_through, 13, "each counts eight times");
    }
}

#[tokio::test]
async fn sign_outs_have_a_limit_of_their_own() {
    let limits = only(Rule::WriteAddress, 3, 60).with(Rule::SecureAccountAddress, Some(Rate::new(5, 60)));
    let app = TestApp::start_with(limits).await;
    let users = users(&app, 8).await;
    for _ in 0..3 {
        at(app.signed_in(&users[0]), "203.0.113.7").patch(ME, json!({ "display_name": "Ada" })).await;
    }
    let out = async |user: &SignedInUser| {
        let caller = at(app.signed_in(user), "203.0.113.7").with("x-stack-refresh-token", &user.refresh_token);
        caller.delete("/api/v1/auth/sessions/current").await.status()
    };
    let mut statuses = Vec::new();
    for user in &users[1..] {
        statuses.push(out(user).await);
    }
    assert_eq!(statuses, [200, 200, 200, 200, 200, 429, 429]);
}

#[tokio::test]
async fn pictures_are_limited_by_user_address_and_network() {
    for (rule, limit) in [(Rule::Picture, 4), (Rule::PictureAddress, 6), (Rule::PictureNetwork, 8)] {
        let app = TestApp::start_with(only(rule, limit, 600)).await;
        let users = users(&app, 20).await;
        let (let_through, refused) = exhaust(|number| {
            let limit = limit as usize;
            let user = if rule == Rule::Picture { 0 } else { number % 20 };
            let address = if rule == Rule::PictureNetwork { number % limit } else { 7 };
            let caller = at(app.signed_in(&users[user]), &format!("203.0.113.{address}"));
            async move { caller.patch(ME, json!({ "profile_image_url": PICTURE })).await }
        })
        .await;
        assert_eq!(let_through, limit as usize, "{rule:?}");
        assert_refused(&refused, "picture", Rate::new(limit, 600));
        // Neither pictures that are given as URLs nor other changes are counted.
        let caller = at(app.signed_in(&users[0]), "203.0.113.7");
        assert_eq!(caller.patch(ME, json!({ "profile_image_url": "https://example.com/ada.png" })).await.status(), 200);
        // The limit does not apply to uploads by servers.
        let path = format!("/api/v1/users/{}", users[0].user_id);
        assert_eq!(app.server().patch(&path, json!({ "profile_image_url": PICTURE })).await.status(), 200);
    }
}

/// The limit depends on the body and not on the operation, so every operation that stores a picture
/// counts the picture.
#[tokio::test]
async fn every_operation_of_a_client_that_takes_a_picture_counts_it() {
    let document: serde_json::Value = serde_json::from_str(include_str!("../../../functions/content/src/openapi.json")).unwrap();
    let mut uploads = 0;
    for operation in writes_of_clients() {
        let verb = operation.route.verb.name().to_lowercase();
        let takes = document["paths"][operation.route.path][&verb]["requestBody"].to_string();
        let schema = takes.split("#/components/schemas/").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
        if !document["components"]["schemas"][schema]["properties"]["profile_image_url"].is_object() {
            continue;
        }
        let world = World::new(Limits::standard()).await;
        world.app.recorder.clear();
        let answer = world.send_with(&name(&operation), |body| body["profile_image_url"] = PICTURE.into()).await;
        assert!(answer.status() < 300, "{}: {}", operation.route.name, answer.text());
        let counted: Vec<String> = world.app.recorder.writes().iter().flat_map(|(_, body)| counters(body)).collect();
        for rule in ["picture", "picture-address", "picture-network"] {
            assert!(counted.iter().any(|counter| counter.contains(&format!("#{rule}#"))), "{}: {counted:?}", operation.route.name);
        }
        uploads += 1;
    }
    assert!(uploads >= 4, "users, teams (twice) and members have pictures: {uploads}");
}
