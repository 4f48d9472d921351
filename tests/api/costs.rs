//! Measures the costs of each operation and of the main steps of the workers. The event of each
//! operation (`events/`) is sent to a new service, whose database engine reports the capacity that
//! every call consumes. Each call advances a paused clock by the same time, so the elapsed time
//! shows the number of consecutive round trips. `infra/COSTS.md` has the results.

use std::fmt::Write as _;

use api::http::Need;
use expect_test::expect_file;
use infra::needs::{self, MEMORY};
use infra::operations;
use model::limit::{Limits, Subject};
use support::authenticator::Ceremony;
use support::{ConsumedUnits, ROUND_TRIP, TestApp};
use tokio::time::Instant;

use crate::auth::mfa_recovery_codes::codes;
use crate::auth::mfa_sign_in::{attempt, user_with_app};
use crate::events::{PROJECT, World, events};

/// Dollars per million units, on demand in us-east-1 (AWS's price list, 2026).
const READ_PRICE: f64 = 0.125;
const WRITE_PRICE: f64 = 0.625;
/// Dollars per million requests: the price of API Gateway's HTTP API plus Lambda's price per
/// request.
const REQUEST_PRICE: f64 = 1.0 + 0.2;
/// Dollars per gigabyte-second of Lambda on arm64.
const MEMORY_PRICE: f64 = 0.000_013_333_4;

/// The maximum number of round trips of an operation that does not hash a password.
const MAX_ROUND_TRIPS: u128 = 3;
/// The operations that take an additional round trip. One of the operations is a page that reads
/// its visitor before it calls other operations. Another operation finds projects through the
/// caller's teams. The remaining operations find the pictures in a user's profiles through the
/// user's teams.
const LONGER: [&str; 4] = ["hosted-account-show", "projects-internal-list", "users-me-delete", "users-user-delete"];

/// The operation that needs the keys of a provider. A process caches these keys on its first
/// request.
const WITH_KEYS: &str = "auth-oauth-apple-native";

struct Cost {
    name: String,
    round_trips: u128,
    consumed: ConsumedUnits,
    /// The memory of the Lambda, in MB.
    memory: u16,
}

const HEAD: &str = "\
# What an operation costs

Written by `UPDATE_EXPECT=1 cargo test -p tests --test api costs`, which sends the event of each
operation and adds up the units that the engine consumes. The test fails when a figure changes. The
column *round trips* counts sequential calls to the table, and *calls* counts all calls. The figures
are for a process that has already served a request with the same project and key. When a process
serves the first such request, it counts the request for rate limits only after project and key are
verified. This takes one more round trip. A read unit is 4 KB read with strong consistency or 8 KB
with eventual consistency. A write unit is 1 KB written. In a transaction, a write takes twice as
many units. If an item is in an index, writing it takes one more unit.

Prices are in dollars for a million calls in us-east-1, on demand: $0.125 for a million read units
and $0.625 for a million write units. *With requests* adds $1.00 for the HTTP API and $0.20 for
Lambda. Lambda's time costs extra: *a ms of Lambda* is the price of one millisecond in each of a
million calls, with the operation's memory, on arm64.

| operation | round trips | calls | read units | write units | table, $ | with requests, $ | a ms of Lambda, $ |
|---|---|---|---|---|---|---|---|
";

impl Cost {
    fn row(&self) -> String {
        let ConsumedUnits { calls, read, write, .. } = self.consumed;
        let table = read * READ_PRICE + write * WRITE_PRICE;
        let memory = f64::from(self.memory) / 1024.0 * MEMORY_PRICE * 1000.0;
        let (name, trips) = (&self.name, self.round_trips);
        format!("| {name} | {trips} | {calls} | {read} | {write} | {table:.2} | {:.2} | {memory:.4} |\n", table + REQUEST_PRICE)
    }
}

/// Measures the calls to the table that `work` makes.
async fn measured(app: &TestApp, name: &str, memory: u16, work: impl Future<Output = ()>) -> Cost {
    app.recorder.measure();
    tokio::time::pause();
    let start = Instant::now();
    work.await;
    let round_trips = start.elapsed().as_millis() / ROUND_TRIP.as_millis();
    tokio::time::resume();
    let consumed = app.recorder.consumed();
    app.recorder.clear();
    Cost { name: name.to_owned(), round_trips, consumed, memory }
}

#[tokio::test]
async fn every_operation_costs_what_the_cost_table_says() {
    let all = operations::all();
    let mut costs = Vec::new();
    // These sign-ins hash passwords and recovery codes, so they come before the operation that
    // needs a connection, as explained below.
    let second_factors = costs_of_other_second_factors().await;
    // The operation that needs a connection comes last. If a password were hashed after this
    // operation, the paused clock would jump to the time when the idle connection is closed.
    let (last, first): (Vec<_>, Vec<_>) = events().into_iter().partition(|(name, _)| name == WITH_KEYS);
    for (name, event) in first.into_iter().chain(last) {
        let operation = all.iter().find(|operation| operation.route.name == name);
        let memory = operation.map_or(MEMORY, |operation| needs::memory(&operation.route));
        let world = if name == WITH_KEYS {
            assert_eq!(World::new(Limits::standard()).await.send(&event).await.status(), 200);
            World::new(Limits::standard()).await
        } else {
            // A paused clock jumps ahead while the test waits for a socket, so no provider can be
            // called.
            World::without_providers(Limits::standard()).await
        };
        let world = world.of_functions();
        warm(&world, &event);
        let cost = measured(&world.app, &name, memory, async { drop(world.send(&event).await) }).await;
        let hashes = operation.is_some_and(|operation| operation.route.needs.has(Need::Hashing));
        assert!(
            hashes || cost.round_trips <= MAX_ROUND_TRIPS + u128::from(LONGER.contains(&name.as_str())),
            "{name} takes {} round trips",
            cost.round_trips
        );
        costs.push(cost);
    }
    costs.sort_by(|a, b| a.name.cmp(&b.name));
    costs.push(cost_of_a_mail().await);
    costs.push(cost_of_a_deletion().await);
    costs.push(cost_of_a_link().await);
    costs.push(cost_of_a_first_refresh().await);
    costs.push(cost_of_a_later_check().await);
    costs.extend(second_factors);
    let text = costs.iter().fold(HEAD.to_owned(), |mut text, cost| {
        let _ = text.write_str(&cost.row());
        text
    });
    expect_file!["../../infra/COSTS.md"].assert_eq(&text);
}

/// Makes the process remember that the project and the keys of the event exist, as it would after a
/// first request.
fn warm(world: &World, event: &str) {
    let request = world.request(event);
    let header = |name: &str| request.headers().get(name).and_then(|value| value.to_str().ok());
    let memory = &world.app.app.memory;
    let project = header("x-service-project-id").unwrap_or(PROJECT);
    memory.saw(project);
    for key in ["x-service-secret-server-key", "x-service-super-secret-admin-key"].into_iter().filter_map(header) {
        memory.saw(&format!("{project}#{}", Subject::secret(&key.to_owned().into())));
    }
}

/// The worker's step that renders and sends one email.
async fn cost_of_a_mail() -> Cost {
    let app = TestApp::start().await;
    let body = serde_json::json!({ "email": "ada@example.com", "callback_url": "http://localhost:3000/x" });
    assert_eq!(app.client().post("/api/v1/auth/otp/send-sign-in-code", body).await.status(), 200);
    let cost = measured(&app, "workers-outbox, one email", 512, app.send_emails()).await;
    assert_eq!(app.mails("ada@example.com").await.len(), 1);
    cost
}

/// The worker's step that deletes a project's data.
async fn cost_of_a_deletion() -> Cost {
    let world = World::new(Limits::standard()).await;
    assert_eq!(world.send("projects/internal-current-delete").await.status(), 200);
    let step = async { assert_eq!(world.app.end_deletions().await, 0) };
    measured(&world.app, "workers-endings, all of one project", 256, step).await
}

/// The worker's step that links one entry of an existing trail.
async fn cost_of_a_link() -> Cost {
    let app = TestApp::start().await;
    app.sign_up("ada@example.com").await;
    assert_eq!(app.link_trail().await, 1);
    app.advance(jiff::SignedDuration::from_hours(1));
    let app = app.as_functions();
    app.sign_in("ada@example.com").await;
    let event = app.carrying_sessions();
    measured(&app, "workers-trail, one entry", 256, async { assert_eq!(app.process_trail(&event).await.unwrap(), 1) }).await
}

/// A user's first refresh of the day, which counts the user and the selected team as active.
async fn cost_of_a_first_refresh() -> Cost {
    let app = TestApp::start().await;
    app.configure(serde_json::json!({ "config": { "create_team_on_sign_up": true } })).await;
    let ada = app.sign_up("ada@example.com").await;
    app.link_trail().await;
    app.advance(jiff::SignedDuration::from_hours(24));
    let caller = app.client().with("x-stack-refresh-token", &ada.refresh_token);
    let refresh = async { assert_eq!(caller.post("/api/v1/auth/sessions/current/refresh", serde_json::json!({})).await.status(), 200) };
    measured(&app, "auth-session-refresh, first of a day", 256, refresh).await
}

/// A check of a user's API key whose use in this hour is already recorded.
async fn cost_of_a_later_check() -> Cost {
    let world = World::new(Limits::standard()).await;
    let check = async || assert_eq!(world.send("keys/user-key-check").await.status(), 200);
    check().await;
    let cost = measured(&world.app, "keys-user-key-check, used within the hour", 256, check()).await;
    assert_eq!(cost.round_trips, 1);
    cost
}

/// Sign-ins with second factors that the `auth-mfa-sign-in` event does not use.
async fn costs_of_other_second_factors() -> [Cost; 2] {
    let app = TestApp::start_with(Limits::standard()).await;
    app.offer_passkeys().await;
    let ada = user_with_app(&app, "ada@example.com").await;
    let passkey = app.add_passkey(&ada, 1).await;
    let codes = codes(&app, &ada).await;
    let sign_in = async |name: &str, body: serde_json::Value| {
        let answer = async { assert_eq!(app.client().post("/api/v1/auth/mfa/sign-in", body).await.status(), 200) };
        measured(&app, name, 1769, answer).await
    };
    let waiting = attempt(&app, "ada@example.com").await;
    let Ceremony { options, code } = app.start_second_factor(&waiting).await;
    let proof = serde_json::json!({ "code": code, "authentication_response": passkey.assertion(&options) });
    let body = serde_json::json!({ "code": waiting, "type": "passkey", "passkey": proof });
    let by_passkey = sign_in("auth-mfa-sign-in, with a passkey", body).await;
    let waiting = attempt(&app, "ada@example.com").await;
    let body = serde_json::json!({ "code": waiting, "type": "recovery-code", "recovery_code": codes[0] });
    [by_passkey, sign_in("auth-mfa-sign-in, with a recovery code", body).await]
}

#[tokio::test]
async fn redeeming_a_code_always_takes_three_round_trips() {
    let app = TestApp::start().await;
    let redeem = async |path: &str, code: String| {
        let mut status = 0;
        let answer = async { status = app.client().post(path, serde_json::json!({ "code": code })).await.status() };
        let trips = measured(&app, path, 256, answer).await.round_trips;
        assert_eq!((status, trips), (200, 3), "{path}");
    };
    for _ in 0..2 {
        // The first sign-in creates the account.
        redeem("/api/v1/auth/otp/sign-in", app.sign_in_code("ada@example.com").await).await;
    }
    let body = serde_json::json!({ "email": "bob@example.com", "password": "correct horse battery", "verification_callback_url": "http://localhost/" });
    app.client().post("/api/v1/auth/password/sign-up", body).await;
    redeem("/api/v1/contact-channels/verify", app.last_mail("bob@example.com").await.code()).await;
}

#[tokio::test]
async fn a_user_is_read_in_one_round_trip_unless_the_selected_team_changed() {
    let app = TestApp::start().await;
    app.configure(serde_json::json!({ "config": { "create_team_on_sign_up": true } })).await;
    let ada = app.sign_up("ada@example.com").await;
    let caller = app.signed_in(&ada);
    let team = serde_json::json!({ "display_name": "Looms", "creator_user_id": ada.user_id });
    let team = app.server().post("/api/v1/teams", team).await.json()["id"].clone();
    let me = async |trips| {
        let mut me = serde_json::Value::Null;
        let cost = measured(&app, "me", 256, async { me = caller.get("/api/v1/users/me").await.json() }).await;
        assert_eq!(cost.round_trips, trips);
        me["selected_team"]["id"].clone()
    };
    let personal = me(1).await;
    assert!(personal.is_string() && personal != team);
    caller.patch("/api/v1/users/me", serde_json::json!({ "selected_team_id": team })).await;
    assert_eq!(me(2).await, team);
    app.server().delete(&format!("/api/v1/teams/{}", personal.as_str().unwrap())).await;
    assert_eq!(me(2).await, team);
}

#[tokio::test]
async fn changing_own_contact_channels_takes_two_round_trips() {
    let app = TestApp::start().await;
    let caller = app.signed_in(&app.sign_up("ada@example.com").await);
    let body = serde_json::json!({ "user_id": "me", "value": "ada@work.example", "type": "email", "used_for_auth": true });
    let create = measured(&app, "create", 256, async { assert_eq!(caller.post("/api/v1/contact-channels", body).await.status(), 201) });
    assert_eq!(create.await.round_trips, 2);
    let list = measured(&app, "list", 256, async { drop(caller.get("/api/v1/contact-channels?user_id=me").await) });
    assert_eq!(list.await.round_trips, 1);
}

#[tokio::test]
async fn only_projects_with_challenges_pay_for_them() {
    let app = TestApp::start_with(Limits::standard()).await;
    app.app.memory.saw(app.project_id().as_str());
    let sign_up = async |email: &str| {
        let body = serde_json::json!({ "email": email, "password": "correct horse battery" });
        let answer = async { assert_eq!(app.client().post("/api/v1/auth/password/sign-up", body).await.status(), 200) };
        measured(&app, email, 256, answer).await
    };
    let before = sign_up("ada@example.com").await;
    app.configure(serde_json::json!({ "config": { "bot_challenge": { "provider": "altcha" } } })).await;
    let after = sign_up("bob@example.com").await;
    assert_eq!((before.round_trips, after.round_trips), (2, 3));
    // The counters of the IP address, its network and the project are affected. For each of these
    // three, the counter of one window is written, and the counters of two windows are read.
    assert_eq!((after.consumed.write - before.consumed.write, after.consumed.read - before.consumed.read), (3.0, 6.0));
}

#[tokio::test]
async fn named_items_are_read_in_the_authentication_round_trip() {
    let app = TestApp::start().await;
    let (ada, bob) = (app.sign_up("ada@example.com").await.user_id, app.sign_up("bob@example.com").await.user_id);
    let server = app.server();
    let read = async |path: String, status: u16| {
        let mut answer = serde_json::Value::Null;
        let cost = measured(&app, &path, 256, async {
            let response = server.get(&path).await;
            assert_eq!(response.status(), status, "{path}");
            answer = response.json();
        });
        assert_eq!(cost.await.round_trips, 1, "{path}");
        answer
    };
    let channel = read(format!("/api/v1/contact-channels?user_id={ada}"), 200).await["items"][0].clone();
    assert_eq!(read(format!("/api/v1/contact-channels/{ada}/{}", channel["id"].as_str().unwrap()), 200).await, channel);
    // If a parameter is repeated, its last value is used.
    let of_bob = read(format!("/api/v1/contact-channels?user_id={ada}&user_id={bob}"), 200).await;
    assert_eq!(of_bob["items"][0]["value"], "bob@example.com");
    read(format!("/api/v1/contact-channels/{}/{}", uuid::Uuid::nil(), channel["id"].as_str().unwrap()), 404).await;
    let body = serde_json::json!({ "user_id": bob, "value": "bob@work.example", "type": "email", "used_for_auth": false });
    let create = measured(&app, "create", 256, async { assert_eq!(server.post("/api/v1/contact-channels", body).await.status(), 201) });
    assert_eq!(create.await.round_trips, 2);
}
