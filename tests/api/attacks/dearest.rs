//! Finds a client's most expensive requests. The search tries all operations that are open to
//! clients, with the longest accepted value in each field of their bodies. The contract test of
//! `docs/operations/attacks.md` computes an attacker's daily cost from the results in
//! `infra/dearest-requests.md`.

use std::fmt::Write as _;

use api::http::Need;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use expect_test::expect_file;
use infra::{Operation, operations};
use model::limit::Limits;
use model::profile_image::MAX_BYTES;
use model::quota::Quota;
use serde_json::{Map, Value, json};
use support::ConsumedUnits;
use tokio::sync::OnceCell;
use wire::level::Level;

use crate::events::{FurnishedWorld, PROJECT, World, name, success};

/// Dollars per million units, on demand in us-east-1.
const READ_PRICE: f64 = 0.125;
const WRITE_PRICE: f64 = 0.625;
/// The lengths to try, in bytes, starting with the longest.
const LENGTHS: [usize; 6] = [240_000, 100_000, 32_000, 8_000, 2_000, 250];
/// The number of rows on the page.
const ROWS: usize = 12;

const HEAD: &str = "\
# The most expensive requests by clients

Written by `UPDATE_EXPECT=1 cargo test -p tests --test api dearest`, which calls all operations for
clients, with the longest values that the fields accept, and adds up the units that the engine
consumes. The test repeats the calls for a user whose stored values are also as long as possible,
and who has as many teams as a user can create. *Table* is the price in dollars of a million
requests in the table, without the price of the requests themselves. The test fails when a figure
changes.

| operation | limit | body, bytes | uploads | read units | write units | table, $ |
|---|---|---|---|---|---|---|
";

struct Request {
    operation: Operation,
    body: usize,
    uploads: bool,
    consumed: ConsumedUnits,
}

impl Request {
    fn price(&self) -> f64 {
        self.consumed.read * READ_PRICE + self.consumed.write * WRITE_PRICE
    }

    fn row(&self) -> String {
        let (route, ConsumedUnits { read, write, .. }) = (&self.operation.route, self.consumed);
        let (limit, uploads) = (route.limit.map_or("-", |limit| limit.name()), if self.uploads { "yes" } else { "no" });
        format!("| {} | {limit} | {} | {uploads} | {read} | {write} | {:.2} |\n", route.name, self.body, self.price())
    }
}

/// The fields of an operation's JSON body with their schemas, by name.
fn fields(document: &Value, operation: &Operation) -> Map<String, Value> {
    let verb = operation.route.verb.name().to_lowercase();
    let body = &document["paths"][operation.route.path][&verb]["requestBody"]["content"]["application/json"]["schema"];
    let resolved = |schema: &Value| match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).cloned().unwrap_or_default(),
        None => schema.clone(),
    };
    let fields = resolved(body)["properties"].as_object().cloned().unwrap_or_default();
    fields.into_iter().map(|(name, schema)| (name, resolved(&schema))).collect()
}

/// A value of this length for a field, in each form that fields can have.
fn values(name: &str, length: usize) -> Vec<Value> {
    let text = "x".repeat(length);
    let mut values = vec![json!({ "text": text }), Value::from(text)];
    if name == "profile_image_url" && length >= MAX_BYTES {
        let picture = [&b"\x89PNG\r\n\x1a\n"[..], &vec![0; MAX_BYTES - 8]].concat();
        values = vec![format!("data:image/png;base64,{}", STANDARD.encode(picture)).into()];
    }
    values
}

/// Whether a field may be long, which is the case for a string without a format and for any object.
fn may_be_long(schema: &Value) -> bool {
    let text = schema.to_string();
    let is_short = schema["enum"].is_array() || schema["format"].is_string() && schema["format"] != "uri" || text.contains("\"boolean\"");
    !is_short
        && (text.contains("\"string\"")
            || text.contains("\"object\"")
            || schema.as_object().is_some_and(|schema| !schema.contains_key("type")))
}

/// The body of the event, with the longest values that the operation accepts.
async fn longest(document: &Value, operation: &Operation, event: &str) -> Map<String, Value> {
    let mut chosen = Map::new();
    let mut world = World::without_providers(Limits::off()).await;
    let first = world.app.rows();
    for (field, schema) in fields(document, operation) {
        if !may_be_long(&schema) {
            continue;
        }
        'lengths: for length in LENGTHS {
            for value in values(&field, length) {
                let mut tried = chosen.clone();
                tried.insert(field.clone(), value);
                // Most values are rejected and change nothing.
                if world.app.rows() != first {
                    drop(world);
                    world = World::without_providers(Limits::off()).await;
                }
                let answer = world.send_with(event, |body| extend(body, &tried)).await;
                if answer.status() == success(operation) {
                    chosen = tried;
                    break 'lengths;
                }
            }
        }
    }
    chosen
}

pub(super) fn extend(body: &mut Value, fields: &Map<String, Value>) {
    if let Some(body) = body.as_object_mut() {
        body.extend(fields.clone());
    }
}

/// The cost of sending the event with these fields. `None` if the event does not succeed in this
/// world.
async fn consumed(world: &World, event: &str, expected: u16, fields: &Map<String, Value>) -> Option<(usize, ConsumedUnits)> {
    world.app.app.memory.saw(PROJECT);
    let mut bytes = 0;
    world.app.recorder.measure();
    tokio::time::pause();
    let answer = world
        .send_with(event, |body| {
            extend(body, fields);
            bytes = if *body == json!({}) { 0 } else { body.to_string().len() };
        })
        .await;
    tokio::time::resume();
    let consumed = world.app.recorder.consumed();
    world.app.recorder.clear();
    (answer.status() == expected).then_some((bytes, consumed))
}

/// An operation's request with the longest fields: in the world of the events or, if that costs
/// more, for a user who has as much of everything as is permitted.
async fn measured(operation: Operation, fields: &Map<String, Value>, rich: &FurnishedWorld) -> Request {
    let (event, expected) = (name(&operation), success(&operation));
    let usual = World::without_providers(Limits::standard()).await;
    let usual = consumed(&usual, &event, expected, fields).await;
    let rich = consumed(&rich.begin(Limits::standard()).await, &event, expected, fields).await;
    let price = |(_, consumed): &(usize, ConsumedUnits)| consumed.read * READ_PRICE + consumed.write * WRITE_PRICE;
    let dearest = usual.into_iter().chain(rich).max_by(|a, b| price(a).total_cmp(&price(b)));
    let (body, consumed) = dearest.unwrap_or_else(|| panic!("{event} fails"));
    Request { operation, body, uploads: fields.contains_key("profile_image_url"), consumed }
}

/// The world of the events, changed so that its user has the longest values and as many teams as a
/// user may create. The teams also have the longest values.
async fn rich(user: &Map<String, Value>, team: &Map<String, Value>) -> FurnishedWorld {
    let world = World::without_providers(Limits::off()).await;
    assert_eq!(world.send_with("users/me-update", |body| extend(body, user)).await.status(), 200);
    let create = async || world.send_with("teams/team-create", |body| extend(body, team)).await.status();
    for _ in 0..Quota::Teams.max() {
        assert_eq!(create().await, 201);
    }
    assert_eq!(create().await, 400);
    world.kept()
}

/// The operations that are open to clients, with the longest values that their fields accept. Also
/// contains a world whose user has as many of these values as possible.
pub(super) struct Search {
    pub(super) operations: Vec<(Operation, Map<String, Value>)>,
    pub(super) rich: FurnishedWorld,
}

impl Search {
    pub(super) async fn done() -> &'static Self {
        static SEARCH: OnceCell<Search> = OnceCell::const_new();
        Box::pin(SEARCH.get_or_init(Self::run)).await
    }

    async fn run() -> Self {
        let document: Value = serde_json::from_str(include_str!("../../../functions/content/src/openapi.json")).unwrap();
        let is_of_client = |operation: &Operation| operation.description.level.is_none_or(|level| level == Level::Client);
        // The public content is measured on a separate page, and a provider flow needs a socket.
        let is_searched = |operation: &Operation| operation.area() != "content" && !operation.route.needs.has(Need::Providers);
        let mut operations = Vec::new();
        for operation in operations::all().into_iter().filter(is_of_client).filter(is_searched) {
            let fields = longest(&document, &operation, &name(&operation)).await;
            operations.push((operation, fields));
        }
        let of = |name: &str| &operations.iter().find(|(operation, _)| operation.route.name == name).unwrap().1;
        let rich = rich(of("users-me-update"), of("teams-team-create")).await;
        Self { operations, rich }
    }
}

#[tokio::test]
async fn the_dearest_requests_of_clients_are_those_of_the_page() {
    let Search { operations, rich } = Search::done().await;
    let mut requests = Vec::new();
    for (operation, fields) in operations {
        requests.push(Box::pin(measured(operation.clone(), fields, rich)).await);
    }
    requests.sort_by(|a, b| b.price().total_cmp(&a.price()).then(a.operation.route.name.cmp(b.operation.route.name)));
    assert!(requests.len() > 90, "{} operations", requests.len());
    let mut page = HEAD.to_owned();
    for request in &requests[..ROWS] {
        write!(page, "{}", request.row()).unwrap();
    }
    let root = infra::checked_in::root();
    expect_file![root.join("infra/dearest-requests.md")].assert_eq(&page);
}
