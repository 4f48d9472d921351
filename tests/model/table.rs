//! The table of a state, and the effect that calls have on it.
//!
//! The gateway's engine executes the calls, so expressions have their usual meaning. The engine
//! executes a call only once for the same content of the items that the call touches.

use std::collections::{BTreeMap, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex};

use dynoxide::Database;
use gateway::engine::{Engine, TABLE, dispatch};
use model::session::Session;
use model::user::User;
use serde_json::{Value, json};
use store::user::EmailClaim;
use support::Items;
use wire::entropy::Entropy;

use crate::call::{Call, Key, digest, key_of, ordered};
use crate::service::Reply;

/// An item, with the parts that the rules need.
#[derive(Debug)]
pub(crate) struct Item {
    stored: Value,
    /// The item as plain JSON, without DynamoDB's types.
    pub(crate) plain: Value,
    pub(crate) entity: Entity,
    digest: u64,
}

#[derive(Debug)]
pub(crate) enum Entity {
    User(Box<User>),
    Session(Box<Session>),
    /// A claim; the key of the item contains the address.
    Claim(EmailClaim),
    Other,
    /// An incomplete item of one of these kinds.
    Broken,
}

impl Entity {
    fn of((pk, sk): &Key, entity: &Value) -> Self {
        let entity = entity.clone();
        let read = match (&**pk, &**sk) {
            (pk, "USER") if pk.starts_with("U#") => serde_json::from_value(entity).map(|user| Self::User(Box::new(user))),
            (_, sk) if sk.starts_with("SESSION#") => serde_json::from_value(entity).map(|session| Self::Session(Box::new(session))),
            (pk, "CLAIM") if pk.starts_with("E#") => serde_json::from_value(entity).map(Self::Claim),
            _ => Ok(Self::Other),
        };
        read.unwrap_or(Self::Broken)
    }
}

/// A DynamoDB value as plain JSON.
fn plain(value: &Value) -> Value {
    let Some((kind, value)) = value.as_object().and_then(|typed| typed.iter().next()) else { return Value::Null };
    match (kind.as_str(), value) {
        ("N", number) => serde_json::from_str(number.as_str().unwrap()).unwrap(),
        ("M", Value::Object(fields)) => Value::Object(fields.iter().map(|(name, value)| (name.clone(), plain(value))).collect()),
        ("L", Value::Array(values)) => Value::Array(values.iter().map(plain).collect()),
        ("NULL", _) => Value::Null,
        (_, value) => value.clone(),
    }
}

impl Item {
    fn new(stored: Value) -> Self {
        let stored = ordered(stored);
        let attributes = stored.as_object().unwrap().iter();
        let plain = Value::Object(attributes.map(|(name, value)| (name.clone(), plain(value))).collect());
        let (key, digest) = (key_of(&stored), digest(&stored.to_string()));
        Self { entity: Entity::of(&key, &plain["d"]), plain, stored, digest }
    }

    fn user(&self) -> Option<&User> {
        if let Entity::User(user) = &self.entity { Some(user) } else { None }
    }

    /// An attribute of the entity, in the form that DynamoDB uses.
    pub(crate) fn stored(&self, attribute: &str) -> &Value {
        &self.stored["d"]["M"][attribute]
    }
}

/// All items. Equal tables have equal digests.
#[derive(Clone)]
pub(crate) struct Table {
    items: Arc<BTreeMap<Key, Arc<Item>>>,
    digest: u64,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest
    }
}

impl Hash for Table {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.digest.hash(state);
    }
}

impl Table {
    pub(crate) fn of(items: Items) -> Self {
        let items: BTreeMap<Key, Arc<Item>> = items.into_values().map(|item| (key_of(&item), Arc::new(Item::new(item)))).collect();
        let digest = items.values().fold(0, |digest, item| digest ^ item.digest);
        Self { items: Arc::new(items), digest }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<Item>> {
        self.items.get(key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Key, &Arc<Item>)> {
        self.items.iter()
    }

    pub(crate) fn users(&self) -> impl Iterator<Item = &User> {
        self.items.values().filter_map(|item| item.user())
    }

    pub(crate) fn user(&self, id: &str) -> Option<&User> {
        self.user_item(id)?.user()
    }

    pub(crate) fn user_item(&self, id: &str) -> Option<&Arc<Item>> {
        self.items.values().find(|item| item.user().is_some_and(|user| user.id.to_string() == id))
    }

    /// The number of items whose keys have these prefixes.
    pub(crate) fn count(&self, pk: &str, sk: &str) -> usize {
        self.items.keys().filter(|key| key.0.starts_with(pk) && key.1.starts_with(sk)).count()
    }

    /// The sessions that give access to the account of an existing user.
    pub(crate) fn live_sessions(&self) -> impl Iterator<Item = &Session> {
        let sessions = self.items.values().filter_map(|item| match &item.entity {
            Entity::Session(session) => Some(&**session),
            _ => None,
        });
        sessions.filter(|session| self.users().any(|user| user.id == session.user_id && session.is_unended(user)))
    }

    fn after(&self, changes: &[(Key, Option<Arc<Item>>)]) -> Self {
        let (mut items, mut digest) = ((*self.items).clone(), self.digest);
        for (key, item) in changes {
            let old = match item {
                Some(item) => items.insert(key.clone(), Arc::clone(item)),
                None => items.remove(key),
            };
            digest ^= item.as_ref().map_or(0, |item| item.digest) ^ old.map_or(0, |item| item.digest);
        }
        Self { items: Arc::new(items), digest }
    }

    /// A digest of the items that determine the result of a call: the items that it touches or, for
    /// a query, all items.
    fn seen_by(&self, call: &Call) -> u64 {
        call.keys.as_ref().map_or(self.digest, |keys| keys.iter().filter_map(|key| self.get(key)).fold(0, |seen, item| seen ^ item.digest))
    }
}

/// The effect of a call: the response and the changed items.
pub(crate) struct Effect {
    pub(crate) reply: Reply,
    changes: Vec<(Key, Option<Arc<Item>>)>,
}

impl Effect {
    pub(crate) fn is_success(&self) -> bool {
        matches!(self.reply, Reply::Said { status: 200, .. })
    }

    pub(crate) fn on(&self, table: &Table) -> Table {
        if self.changes.is_empty() { table.clone() } else { table.after(&self.changes) }
    }
}

/// Executes calls.
#[derive(Default)]
pub(crate) struct Engines {
    idle: Mutex<Vec<Emulator>>,
    known: Mutex<HashMap<(u64, u64), Arc<Effect>>>,
}

impl Engines {
    pub(crate) fn effect(&self, call: &Call, table: &Table) -> Arc<Effect> {
        let about = (digest(call), table.seen_by(call));
        if let Some(effect) = self.known.lock().unwrap().get(&about) {
            return Arc::clone(effect);
        }
        let idle = self.idle.lock().unwrap().pop();
        let mut engine = idle.unwrap_or_else(Emulator::new);
        let effect = Arc::new(engine.make(call, table));
        self.idle.lock().unwrap().push(engine);
        self.known.lock().unwrap().insert(about, Arc::clone(&effect));
        effect
    }
}

/// An engine, and the current content of its table.
struct Emulator {
    database: Database,
    content: BTreeMap<Key, Arc<Item>>,
}

impl Emulator {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let engine = runtime.block_on(Engine::open(None, &Entropy::system(), None)).unwrap();
        Self { database: engine.database(), content: BTreeMap::new() }
    }

    fn ask(&self, operation: &str, input: &Value) -> Reply {
        // The model handles the tokens of transactions itself. The same engine executes the calls
        // of many paths, and must not recognize a token of another path.
        let (status, body) = match dispatch(&self.database, operation, input.to_string().as_bytes(), false) {
            Ok(body) => (200, body),
            Err(error) => (error.status_code(), error.to_json()),
        };
        Reply::Said { status, body: body.into() }
    }

    fn ask_for_item(&self, (pk, sk): &Key) -> Option<Arc<Item>> {
        let input = json!({ "TableName": TABLE, "Key": { "pk": { "S": **pk }, "sk": { "S": **sk } }, "ConsistentRead": true });
        let Reply::Said { body, .. } = self.ask("GetItem", &input) else { return None };
        let mut answer: Value = serde_json::from_str(&body).unwrap();
        answer.get_mut("Item").map(|item| Arc::new(Item::new(item.take())))
    }

    /// Makes the table of the engine equal to that of a state.
    fn load(&mut self, table: &Table) {
        let gone: Vec<Key> = self.content.keys().filter(|key| table.get(key).is_none()).cloned().collect();
        for (pk, sk) in &gone {
            self.done("DeleteItem", &json!({ "TableName": TABLE, "Key": { "pk": { "S": **pk }, "sk": { "S": **sk } } }));
        }
        for (key, item) in table.iter() {
            if self.content.get(key).is_none_or(|own| own.digest != item.digest) {
                self.done("PutItem", &json!({ "TableName": TABLE, "Item": item.stored }));
            }
        }
        self.content = (*table.items).clone();
    }

    fn done(&self, operation: &str, input: &Value) {
        let reply = self.ask(operation, input);
        assert!(matches!(reply, Reply::Said { status: 200, .. }), "{operation} {input}: {reply:?}");
    }

    fn make(&mut self, call: &Call, table: &Table) -> Effect {
        self.load(table);
        let reply = self.ask(&call.operation, &call.input);
        let mut changes = Vec::new();
        for write in call.writes() {
            let key = write.key();
            // The trail is left out, because requests do not read it.
            if key.0.contains("#TRAIL#") {
                continue;
            }
            let (old, new) = (self.content.get(&key).cloned(), self.ask_for_item(&key));
            if old.as_ref().map(|item| item.digest) == new.as_ref().map(|item| item.digest) {
                continue;
            }
            assert!(!key.0.starts_with("P#"), "projects are assumed constant, but {} changes one", call.text);
            match &new {
                Some(item) => self.content.insert(key.clone(), Arc::clone(item)),
                None => self.content.remove(&key),
            };
            changes.push((key, new));
        }
        Effect { reply, changes }
    }
}
