//! A service's whole table: its items as stored, and copies of it.
//!
//! The engine's database is in memory. A second connection reads or replaces all of it in a
//! fraction of the time that calls to the engine take, which matters in tests that do so thousands
//! of times.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dynoxide::Database;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use serde_json::Value;

/// The items of a table by partition and sort key.
pub type Items = BTreeMap<Key, Value>;

/// The partition and sort key of an item.
type Key = (String, String);

/// How long another connection may keep the database locked.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A second connection to the database of an engine.
pub(crate) struct Table(Mutex<Connection>);

/// A copy of a table.
pub(crate) struct Image {
    connection: Mutex<Connection>,
    /// The engine's cached facts about the table, other than its items.
    pub(crate) definition: String,
}

impl Table {
    /// Opens an empty database in memory.
    pub(crate) fn open() -> (Database, Self) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // Connections with the same name in one process share a database of this kind.
        let name = format!("file:/table-{}?vfs=memdb", COUNT.fetch_add(1, Ordering::Relaxed));
        let database = Database::new(&name).unwrap();
        let connection = Connection::open(&name).unwrap();
        connection.busy_timeout(TIMEOUT).unwrap();
        (database, Self(Mutex::new(connection)))
    }

    pub(crate) fn rows(&self) -> Rows {
        let connection = self.0.lock().unwrap();
        let select = format!("SELECT pk, sk, item_json FROM {}", gateway::engine::TABLE);
        let mut select = connection.prepare_cached(&select).unwrap();
        let rows = select.query_map([], |row| Ok(((key(&row.get::<_, String>(0)?), key(&row.get::<_, String>(1)?)), row.get(2)?))).unwrap();
        Rows(rows.map(Result::unwrap).collect())
    }

    pub(crate) fn image(&self) -> Image {
        let from = self.0.lock().unwrap();
        let mut to = Connection::open_in_memory().unwrap();
        replace(&from, &mut to);
        let definition = definition(&to);
        Image { connection: Mutex::new(to), definition }
    }

    /// Whether the table's definition, as cached by the engine, matches a copy's.
    pub(crate) fn is_defined_as(&self, image: &Image) -> bool {
        definition(&self.0.lock().unwrap()) == image.definition
    }

    /// Replaces everything with a copy. No write may be in progress.
    pub(crate) fn replace_by(&self, image: &Image) {
        replace(&image.connection.lock().unwrap(), &mut self.0.lock().unwrap());
    }
}

/// A part of a key, which the engine stores with its type.
fn key(stored: &str) -> String {
    stored.strip_prefix("S:").unwrap_or_else(|| panic!("{stored} is no text")).to_owned()
}

fn replace(from: &Connection, to: &mut Connection) {
    let backup = Backup::new(from, to).unwrap();
    let end = Instant::now() + TIMEOUT;
    while backup.step(-1).unwrap() != StepResult::Done {
        assert!(Instant::now() < end, "the database remains locked");
        std::thread::yield_now();
    }
}

fn definition(of: &Connection) -> String {
    let mut select = of.prepare_cached("SELECT * FROM _tables").unwrap();
    let columns = select.column_count();
    let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get::<_, rusqlite::types::Value>(column)).collect();
    let rows: Vec<Vec<_>> = select.query_map([], row).unwrap().map(Result::unwrap).collect();
    format!("{rows:?}")
}

/// The items of a table as stored, parsed only where necessary.
#[derive(Clone)]
pub struct Rows(BTreeMap<Key, String>);

impl Rows {
    /// The keys of the items that were added, changed or deleted.
    pub fn changed<'a>(&'a self, after: &'a Self) -> BTreeSet<&'a Key> {
        let keys: BTreeSet<&Key> = self.0.keys().chain(after.0.keys()).collect();
        keys.into_iter().filter(|key| !is_same(self.0.get(*key), after.0.get(*key))).collect()
    }

    /// The items that were added or changed.
    pub fn new_items(&self, after: &Self) -> Items {
        self.changed(after).into_iter().filter_map(|key| Some((key.clone(), after.get(key)?))).collect()
    }

    pub fn get(&self, key: &Key) -> Option<Value> {
        self.0.get(key).map(|row| parsed(row))
    }

    /// The rows whose key and text meet a condition.
    #[must_use]
    pub fn only(&self, is_wanted: impl Fn(&Key, &str) -> bool) -> Self {
        Self(self.0.iter().filter(|(key, text)| is_wanted(key, text)).map(|(key, text)| (key.clone(), text.clone())).collect())
    }

    /// All items, parsed.
    pub fn items(&self) -> Items {
        self.0.iter().map(|(key, row)| (key.clone(), parsed(row))).collect()
    }
}

fn parsed(row: &str) -> Value {
    serde_json::from_str(row).unwrap()
}

/// Whether two rows are the same item. Storing an item again may change the order of its
/// attributes.
fn is_same(one: Option<&String>, other: Option<&String>) -> bool {
    one == other || one.zip(other).is_some_and(|(one, other)| parsed(one) == parsed(other))
}

impl PartialEq for Rows {
    fn eq(&self, other: &Self) -> bool {
        self.changed(other).is_empty()
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
