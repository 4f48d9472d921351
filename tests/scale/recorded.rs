//! Records the effect of each kind of request on the table. Runs the real operations on the
//! embedded engine for users of two projects, and splits every call into its accesses.

use std::collections::{HashMap, HashSet};

use dynoxide::types::{Item, item_size, read_capacity_units_with_consistency, write_capacity_units};
use gateway::engine::TABLE;
use gateway::keys::Keys;
use jiff::SignedDuration;
use model::limit::Limits;
use serde_json::{Value, json};
use store::table::stream::records;
use store::table::{INDEXES, TTL};
use store::trail::carried::entry_of;

use support::trace::{Key, TracedCall};
use support::{Caller, SignedInUser, TestApp};
use wire::id::TrailEntryId;

use crate::population::hash;

/// The number of users whose requests are recorded.
const USERS: u32 = 24;
/// The number of users in a second project, which distinguishes a project's keys from keys that all
/// projects share.
const OTHERS: u32 = 2;
/// The bytes that DynamoDB adds to each item, in the table and in each index, when it charges for
/// storage (AWS developer guide, "DynamoDB item sizes and formats").
const OVERHEAD: usize = 100;
const PASSWORD: &str = "correct horse battery";
/// The time between two requests of a visit.
const STEP: SignedDuration = SignedDuration::from_secs(20);
/// The kinds of requests for the work of the trail's worker.
const ADD: &str = "add an entry to the trail";
const LINK: &str = "link an entry of the trail";
/// The kind of request for the work of the outbox worker.
const EMAIL: &str = "send an email";

/// The units that a request takes under one key.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// `0` for the table, `1` for the first of [`INDEXES`], and so on.
    pub(crate) place: usize,
    pub(crate) pk: String,
    /// Absent for a query, because it reads several items.
    pub(crate) sk: Option<String>,
    pub(crate) read: f64,
    pub(crate) write: f64,
}

/// The bytes that a request adds to the storage of the table or of an index.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoredBytes {
    pub(crate) place: usize,
    /// A number of bytes; negative if the request has deleted items or made them smaller.
    pub(crate) bytes: f64,
    /// The seconds until the item expires; `None` if it does not expire.
    pub(crate) life: Option<f64>,
}

/// One request of a kind.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) kind: &'static str,
    /// The user's number, below [`USERS`]; `None` for work that is done for many users at once.
    pub(crate) user: Option<u32>,
    pub(crate) project: String,
    /// The number of requests of this kind that the record represents, such as the number of emails
    /// that a worker has sent.
    pub(crate) count: u32,
    pub(crate) accesses: Vec<Access>,
    pub(crate) stored: Vec<StoredBytes>,
}

/// The service whose requests are recorded, and the items of its table after the last request.
struct WatchedService {
    app: TestApp,
    items: HashMap<Key, Item>,
    /// The trail entries that were first stored in sessions and codes, and were then added to the
    /// trail.
    added: HashSet<TrailEntryId>,
    requests: Vec<Request>,
}

/// A string attribute of an item; `None` if it is missing or not a string.
fn attribute(item: &Item, name: &str) -> Option<String> {
    serde_json::to_value(item.get(name)?).unwrap()["S"].as_str().map(str::to_owned)
}

/// The entry of an item in an index, with the key of the entry; `None` if the item does not have
/// one.
fn entry(item: Option<&Item>, place: usize) -> Option<(Key, Item)> {
    let index = &INDEXES[place - 1];
    let [pk, sk] = ["pk", "sk"].map(|key| format!("{}{key}", index.name));
    let item = item?;
    let key = (attribute(item, &pk)?, attribute(item, &sk)?);
    let whole = index.projection == "ALL";
    let is_kept = |name: &str| whole || ["pk", "sk", &pk, &sk].contains(&name);
    Some((key, item.iter().filter(|(name, _)| is_kept(name)).map(|(name, value)| (name.clone(), value.clone())).collect()))
}

/// The writes to an index that a change of an item causes. Whether in a transaction or not, these
/// writes cost the same units.
fn index_writes(before: Option<&Item>, after: Option<&Item>, place: usize) -> Vec<Access> {
    let access = |(pk, sk), units| Access { place, pk, sk: Some(sk), read: 0.0, write: units };
    let units = |item: &Item| write_capacity_units(item_size(item));
    match (entry(before, place), entry(after, place)) {
        (None, None) => Vec::new(),
        (None, Some((key, item))) | (Some((key, item)), None) => vec![access(key, units(&item))],
        (Some((old, one)), Some((new, other))) if old != new => vec![access(old, units(&one)), access(new, units(&other))],
        (Some((_, one)), Some((_, other))) if one == other => Vec::new(),
        (Some((_, one)), Some((key, other))) => vec![access(key, units(&one).max(units(&other)))],
    }
}

fn query(call: &TracedCall) -> Access {
    let index = call.body["IndexName"].as_str();
    let place = index.map_or(0, |name| 1 + INDEXES.iter().position(|index| index.name == name).unwrap());
    let pk = call.body["ExpressionAttributeValues"][":pk"]["S"].as_str().unwrap().to_owned();
    Access { place, pk, sk: None, read: call.units, write: 0.0 }
}

/// The reads that a call makes. `request` is the part of its body that says how consistent the
/// reads are.
fn reads(call: &TracedCall, request: &Value) -> Vec<Access> {
    let is_consistent = request["ConsistentRead"].as_bool().unwrap_or_default();
    let units = |item: &Option<Item>| read_capacity_units_with_consistency(item.as_ref().map_or(0, item_size), is_consistent);
    let access = |(key, item): &(Key, Option<Item>)| {
        let (pk, sk) = key.clone();
        Access { place: 0, pk, sk: Some(sk), read: units(item), write: 0.0 }
    };
    call.items.iter().map(access).collect()
}

impl WatchedService {
    async fn new() -> Self {
        let app = TestApp::start_with(Limits::standard()).await.as_functions();
        app.recorder.trace(app.database());
        Self { app, items: HashMap::new(), added: HashSet::new(), requests: Vec::new() }
    }

    /// Starts recording with the items that the table contains now.
    fn begin(&mut self) {
        drop(self.app.recorder.take_traced());
        let items = self.app.table().into_iter();
        self.items = items.map(|(key, item)| (key, serde_json::from_value(item).unwrap())).collect();
    }

    async fn send_emails(&mut self, keys: &Keys) {
        let before = self.app.inbox.messages(None).len();
        self.app.send_emails().await;
        let sent = self.app.inbox.messages(None).len() - before;
        self.note(EMAIL, None, keys, u32::try_from(sent).unwrap());
    }

    /// Adds the new trail entries that a user's sessions and codes contain, as the worker does.
    async fn add_entries(&mut self, user: u32, keys: &Keys) {
        let carried = records(&self.app.carrying_sessions()).into_iter().filter_map(|record| entry_of(record).unwrap());
        let mut count = 0;
        for carried in carried.filter(|carried| self.added.insert(carried.entry.id)) {
            self.app.app.store.add_carried(&carried).await.unwrap();
            count += 1;
        }
        if count > 0 {
            self.note(ADD, Some(user), keys, count);
        }
    }

    /// Splits the calls since the last recording, and records them as the calls of `count` requests
    /// of a kind.
    fn note(&mut self, kind: &'static str, user: Option<u32>, keys: &Keys, count: u32) {
        let (mut accesses, mut stored) = (Vec::new(), Vec::new());
        for call in self.app.recorder.take_traced() {
            let of_call = match &*call.operation {
                "Query" => vec![query(&call)],
                "GetItem" => reads(&call, &call.body),
                "BatchGetItem" => reads(&call, &call.body["RequestItems"][TABLE]),
                operation => self.writes(&call, if operation == "TransactWriteItems" { 2.0 } else { 1.0 }, &mut stored),
            };
            let units: f64 = of_call.iter().map(|access| access.read + access.write).sum();
            assert!((units - call.units).abs() < 0.01, "{kind}: {units} units instead of {} of {call:?}", call.units);
            accesses.extend(of_call);
        }
        self.requests.push(Request { kind, user, project: keys.project_id.to_string(), count, accesses, stored });
    }

    /// The writes that a call makes. The units of the writes in the table are multiplied by this
    /// factor.
    fn writes(&mut self, call: &TracedCall, factor: f64, stored: &mut Vec<StoredBytes>) -> Vec<Access> {
        let mut accesses = Vec::new();
        for (key, after) in &call.items {
            let before = self.items.remove(key);
            let size = [&before, after].into_iter().flatten().map(item_size).max().unwrap_or_default();
            let (pk, sk) = key.clone();
            accesses.push(Access { place: 0, pk, sk: Some(sk), read: 0.0, write: factor * write_capacity_units(size) });
            for place in 1..=INDEXES.len() {
                accesses.extend(index_writes(before.as_ref(), after.as_ref(), place));
            }
            stored.extend(self.growth(before.as_ref(), after.as_ref()));
            self.items.extend(after.clone().map(|item| (key.clone(), item)));
        }
        accesses
    }

    /// The change in storage that a write makes: the new item is added, and the old item is
    /// subtracted. The old and the new item may expire at different times.
    fn growth(&self, before: Option<&Item>, after: Option<&Item>) -> Vec<StoredBytes> {
        let now = f64::from(i32::try_from(self.app.now().as_millisecond() / 1000).unwrap());
        let size = |item: &Item| f64::from(u32::try_from(item_size(item) + OVERHEAD).unwrap());
        let mut stored = Vec::new();
        for (item, sign) in [(before, -1.0), (after, 1.0)] {
            let Some(item) = item else { continue };
            let ttl = serde_json::to_value(item.get(TTL)).unwrap()["N"].as_str().and_then(|ttl| ttl.parse::<f64>().ok());
            let life = ttl.map(|ttl| (ttl - now).max(0.0));
            stored.push(StoredBytes { place: 0, bytes: sign * size(item), life });
            let places = (1..=INDEXES.len()).filter_map(|place| Some((place, entry(Some(item), place)?.1)));
            stored.extend(places.map(|(place, item)| StoredBytes { place, bytes: sign * size(&item), life }));
        }
        stored
    }
}

/// A user, with the keys of the user's project.
struct Person<'a> {
    number: u32,
    keys: &'a Keys,
    client: Caller,
    email: String,
    tokens: Option<SignedInUser>,
}

async fn post(caller: &Caller, path: &str, body: Value) -> Value {
    let answer = caller.post(path, body).await;
    assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
    answer.json()
}

impl Person<'_> {
    fn sign_in_body(&self) -> Value {
        json!({ "email": self.email, "password": PASSWORD })
    }

    async fn sign_up(&mut self, world: &mut WatchedService) {
        let mut body = self.sign_in_body();
        body["verification_callback_url"] = "http://localhost:3000/verify".into();
        let answer = post(&self.client, "/api/v1/auth/password/sign-up", body).await;
        self.tokens = Some(SignedInUser::of(&self.email, &answer));
        world.note("sign up with a password", Some(self.number), self.keys, 1);
        world.add_entries(self.number, self.keys).await;
        world.send_emails(self.keys).await;
    }

    /// A visit on a later day: everything that a user may do, one thing after another.
    async fn visit(&mut self, world: &mut WatchedService) {
        let refresh = self.client.clone().with("x-stack-refresh-token", &self.tokens.as_ref().unwrap().refresh_token);
        for kind in ["refresh a session, first of a day", "refresh a session"] {
            world.app.advance(STEP);
            post(&refresh, "/api/v1/auth/sessions/current/refresh", json!({})).await;
            world.note(kind, Some(self.number), self.keys, 1);
        }
        world.app.advance(STEP);
        let answer = post(&self.client, "/api/v1/auth/password/sign-in", self.sign_in_body()).await;
        world.note("sign in with a password", Some(self.number), self.keys, 1);
        world.add_entries(self.number, self.keys).await;
        let token = SignedInUser::of(&self.email, &answer).access_token;
        let user = self.client.clone().with("x-stack-access-token", &token);
        for (path, kind) in [("/api/v1/users/me", "get the current user"), ("/api/v1/auth/sessions", "list sessions")] {
            assert_eq!(user.get(path).await.status(), 200);
            world.note(kind, Some(self.number), self.keys, 1);
        }
        world.app.advance(STEP);
        let body = json!({ "email": self.email, "callback_url": "http://localhost:3000/magic" });
        post(&self.client, "/api/v1/auth/otp/send-sign-in-code", body).await;
        world.note("request a sign-in code", Some(self.number), self.keys, 1);
        world.add_entries(self.number, self.keys).await;
        world.send_emails(self.keys).await;
        let code = world.app.last_mail(&self.email).await.code();
        drop(world.app.recorder.take_traced());
        world.app.advance(STEP);
        post(&self.client, "/api/v1/auth/otp/sign-in", json!({ "code": code })).await;
        world.note("sign in with a code", Some(self.number), self.keys, 1);
        world.add_entries(self.number, self.keys).await;
    }
}

/// Links the entries of each project's trail, as the worker does.
async fn link(world: &mut WatchedService, projects: &[Keys]) {
    for keys in projects {
        let linked = workers::trail::link(&world.app.app, &keys.project_id).await.unwrap();
        world.note(LINK, None, keys, u32::try_from(linked).unwrap().max(1));
    }
}

/// The requests of all users. Each user signs up, and does everything else on the next day. The
/// clock advances by some minutes between users.
pub(crate) async fn requests() -> (TestApp, Vec<Request>) {
    let mut world = WatchedService::new().await;
    let first = Keys { project_id: world.app.keys.project_id.clone(), ..copy(&world.app.keys) };
    let projects = [first, world.app.another_project().await];
    let mut people = Vec::new();
    for number in 0..USERS {
        let keys = &projects[usize::from(number < OTHERS)];
        // Each user has a separate network, so that nobody's requests count towards the limits of
        // another user.
        let client = world.app.client_of(keys).with("cloudfront-viewer-address", &format!("198.18.{number}.7:443"));
        people.push(Person { number, keys, client, email: format!("{:x}@example.com", hash(number.into())), tokens: None });
    }
    for keys in &projects {
        let config = json!({ "config": { "magic_link_enabled": true } });
        assert_eq!(world.app.admin_of(keys).patch("/api/v1/internal/projects/current", config).await.status(), 200);
    }
    world.begin();
    for person in &mut people {
        world.app.advance(SignedDuration::from_mins(10));
        person.sign_up(&mut world).await;
    }
    // The first link of a trail creates the head of the trail.
    link(&mut world, &projects).await;
    world.requests.retain(|request| request.kind != LINK);
    world.app.advance(SignedDuration::from_hours(12));
    // Users do not return in the order of their sign-ups.
    people.sort_by_key(|person| hash(person.number.into()));
    for person in &mut people {
        world.app.advance(SignedDuration::from_mins(20));
        person.visit(&mut world).await;
    }
    link(&mut world, &projects).await;
    (world.app, world.requests)
}

fn copy(keys: &Keys) -> Keys {
    Keys { project_id: keys.project_id.clone(), client: keys.client.clone(), server: keys.server.clone(), admin: keys.admin.clone() }
}
