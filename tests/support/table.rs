//! The whole table of a service, as stored items and as copies of the table.
//!
//! The database of the engine is in memory. A second connection reads or replaces the whole table
//! much faster than calls to the engine do. The difference matters in tests that do this thousands
//! of times.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
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

/// A second connection to an engine's database.
pub(crate) struct Table(Mutex<State>);

struct State {
    connection: Connection,
    /// The rows of the last read, and the version of the table at that time.
    last: Option<(i64, Rows)>,
    /// The rows of the copy that last replaced the table, and the version of the table after the
    /// replacement.
    origin: Option<(i64, Arc<OnceLock<Rows>>)>,
}

/// A copy of a table.
pub(crate) struct Image {
    connection: Mutex<Connection>,
    /// The rows of the copy. The rows are empty until they are first read.
    rows: Arc<OnceLock<Rows>>,
    /// The facts about the table that the engine has cached, apart from its items.
    pub(crate) definition: String,
}

impl Table {
    /// Opens an empty database in memory.
    pub(crate) fn open() -> (Database, Self) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        // Connections with the same name in a process share a database in memory.
        let name = format!("file:/table-{}?vfs=memdb", COUNT.fetch_add(1, Ordering::Relaxed));
        let database = Database::new(&name).unwrap();
        // Gives SQLite a larger cache, because it would otherwise read large tables again and
        // again.
        database.enable_bulk_loading().unwrap();
        let connection = Connection::open(&name).unwrap();
        connection.busy_timeout(TIMEOUT).unwrap();
        (database, Self(Mutex::new(State { connection, last: None, origin: None })))
    }

    /// Adds the index of the stream's records that a gateway adds to its file. Without the index,
    /// each write with the stream enabled searches all earlier records.
    pub(crate) fn index(&self) {
        self.0.lock().unwrap().connection.execute_batch(gateway::engine::INDEX).unwrap();
    }

    /// All items. The items are read only if they may have changed since the last call.
    pub(crate) fn rows(&self) -> Rows {
        let mut state = self.0.lock().unwrap();
        let version = state.version();
        if let Some((_, rows)) = state.last.as_ref().filter(|(of, _)| *of == version) {
            return rows.clone();
        }
        let rows = read(&state.connection);
        // A write after this read changes the version, so the next call reads the items again.
        if let Some((_, known)) = state.origin.as_ref().filter(|(of, _)| *of == version && version == state.version()) {
            let _ = known.set(rows.clone());
        }
        state.last = Some((version, rows.clone()));
        rows
    }

    pub(crate) fn image(&self) -> Image {
        let from = self.0.lock().unwrap();
        let mut to = Connection::open_in_memory().unwrap();
        replace(&from.connection, &mut to);
        let definition = definition(&to);
        Image { connection: Mutex::new(to), rows: Arc::default(), definition }
    }

    /// Whether the definition of the table that the engine has cached matches the definition of a
    /// copy.
    pub(crate) fn is_defined_as(&self, image: &Image) -> bool {
        definition(&self.0.lock().unwrap().connection) == image.definition
    }

    /// Replaces the whole table with a copy, unless the table still equals the copy. No write may
    /// be in progress during the call.
    pub(crate) fn replace_by(&self, image: &Image) {
        let mut state = self.0.lock().unwrap();
        let version = state.version();
        if state.origin.as_ref().is_some_and(|(of, rows)| *of == version && Arc::ptr_eq(rows, &image.rows)) {
            return;
        }
        replace(&image.connection.lock().unwrap(), &mut state.connection);
        let version = state.version();
        state.origin = Some((version, Arc::clone(&image.rows)));
        state.last = image.rows.get().map(|rows| (version, rows.clone()));
    }
}

impl State {
    /// A number that changes with any write through another connection.
    fn version(&self) -> i64 {
        self.connection.prepare_cached("PRAGMA data_version").unwrap().query_row([], |row| row.get(0)).unwrap()
    }
}

fn read(connection: &Connection) -> Rows {
    let select = format!("SELECT pk, sk, item_json FROM {}", gateway::engine::TABLE);
    let mut select = connection.prepare_cached(&select).unwrap();
    let rows = select.query_map([], |row| Ok(((key(&row.get::<_, String>(0)?), key(&row.get::<_, String>(1)?)), row.get(2)?))).unwrap();
    Rows(Arc::new(rows.map(Result::unwrap).collect()))
}

/// A part of a key. The engine stores the part together with its type.
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

/// The items of a table as they are stored. The items are parsed only where necessary.
#[derive(Clone)]
pub struct Rows(Arc<BTreeMap<Key, String>>);

impl Rows {
    /// The keys of the items that were added, changed or deleted.
    pub fn changed<'a>(&'a self, after: &'a Self) -> BTreeSet<&'a Key> {
        if Arc::ptr_eq(&self.0, &after.0) {
            return BTreeSet::new();
        }
        let earlier = self.0.iter().filter(|(key, row)| !is_same(Some(row), after.0.get(*key))).map(|(key, _)| key);
        earlier.chain(after.0.keys().filter(|key| !self.0.contains_key(*key))).collect()
    }

    /// The items that were added or changed.
    pub fn new_items(&self, after: &Self) -> Items {
        self.changed(after).into_iter().filter_map(|key| Some((key.clone(), after.get(key)?))).collect()
    }

    pub fn get(&self, key: &Key) -> Option<Value> {
        self.0.get(key).map(|row| parsed(row))
    }

    /// The rows whose key and text satisfy a condition.
    #[must_use]
    pub fn only(&self, is_wanted: impl Fn(&Key, &str) -> bool) -> Self {
        let wanted = self.0.iter().filter(|(key, text)| is_wanted(key, text));
        Self(Arc::new(wanted.map(|(key, text)| (key.clone(), text.clone())).collect()))
    }

    /// All items, parsed.
    pub fn items(&self) -> Items {
        self.0.iter().map(|(key, row)| (key.clone(), parsed(row))).collect()
    }
}

fn parsed(row: &str) -> Value {
    serde_json::from_str(row).unwrap()
}

/// Whether two rows contain the same item. Storing an item again may change the order of its
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
