//! The rows and pages that were read most recently, in the form in which the store receives them.
//! Reading them again requires no database access, no parsing of stored JSON, and no
//! deserialization of entities.
//!
//! Reads remain strongly consistent, because every write is announced. Before this process writes
//! to rows, the rows and the pages of their partitions are removed. A row is not kept if it was
//! written, or if a write to it was running, while the row was being read. When another process
//! begins to write ([`writers`]), reads use the database until the write has ended, and all rows
//! and pages are then forgotten.
//!
//! [`writers`]: super::writers

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::AttributeValue;
use hashlink::LruCache;
use store::Key;
use store::table::row::{Page, ReadPage, Row};

use super::calls::WrittenItems;
use super::writers::Writers;

#[cfg(test)]
mod tests;

pub(super) type Item = HashMap<String, AttributeValue>;

/// The maximum number of kept rows. The kept row of a user takes about 6 KB, and that of a project
/// about 15 KB.
const MAX_ROWS: usize = 500;
/// The maximum number of kept pages, one per partition.
const MAX_PAGES: usize = 50;
/// The maximum size of a kept item, in bytes of memory. All rows together take at most 16 MB.
const MAX_ITEM_BYTES: usize = 32 << 10;
/// The maximum size of a kept page, in bytes of memory. All pages together take at most 6.4 MB. A
/// page of eleven sessions takes about 40 KB.
const MAX_PAGE_BYTES: usize = 128 << 10;
/// The estimated overhead of an allocation, in bytes.
const ALLOCATION: usize = 16;
/// How long rows and pages are kept. Unannounced writes take effect after this time, for example if
/// someone has opened the file in another program.
const KEPT: Duration = Duration::from_secs(2);
/// The number of groups into which keys are divided in order to recognize concurrent writes.
const GROUPS: usize = 1024;

/// The rows and pages read last.
pub(super) struct RecentReads {
    hasher: RandomState,
    state: Mutex<State>,
    /// Unset if no rows are kept; `None` if no other process can write to the table.
    writers: OnceLock<Option<Writers>>,
}

/// The kept values, with the time at which each was read.
type Cache<K, V> = LruCache<K, (Instant, V)>;

struct State {
    rows: Cache<Key, Arc<Row>>,
    /// For each partition, the page that was read last.
    pages: Cache<String, (ReadPage, Page)>,
    groups: Vec<Group>,
    /// The number of writes that other processes had finished when the cache was last cleared.
    ended: Option<u64>,
}

/// The numbers of writes to the keys and partitions of a group.
#[derive(Clone, Copy, Default)]
struct Group {
    /// How many writes are running.
    under_way: u32,
    /// How many times a write has begun or ended.
    changes: u64,
}

/// What is known about a row or a page before it is read from the database.
pub(super) enum Lookup<K, V> {
    Kept(V),
    Unknown(Unknown<K>),
}

/// A row or a page that must be read from the database.
pub(super) struct Unknown<K> {
    key: K,
    group: usize,
    changes: u64,
    asked_at: Instant,
}

/// A write that runs until this value is dropped.
pub(super) struct Write {
    recent: Arc<RecentReads>,
    /// `None` for all groups.
    groups: Option<Vec<usize>>,
}

impl Default for RecentReads {
    fn default() -> Self {
        let groups = vec![Group::default(); GROUPS];
        let state = State { rows: LruCache::new(MAX_ROWS), pages: LruCache::new(MAX_PAGES), groups, ended: None };
        Self { hasher: RandomState::new(), state: Mutex::new(state), writers: OnceLock::new() }
    }
}

impl RecentReads {
    /// Begins to keep rows. `writers` are the other processes that can write to the table, if there
    /// are any.
    pub(super) fn begin(&self, writers: Option<Writers>) {
        // The first call decides, because there is only one table.
        let _ = self.writers.set(writers);
    }

    /// Whether rows are kept. If no rows are kept, this process must announce its writes to the
    /// process that keeps rows.
    pub(super) fn is_begun(&self) -> bool {
        self.writers.get().is_some()
    }

    /// Whether rows can be taken from the cache and added to it. Call this at the beginning of each
    /// read.
    pub(super) fn is_usable(&self) -> bool {
        let Some(writers) = self.writers.get() else { return false };
        let Some(writers) = writers else { return true };
        let mut state = self.state();
        let announced = writers.announced();
        if announced.is_some() && announced == state.ended {
            return true;
        }
        state.ended = writers.ended();
        state.forget();
        state.change(None, |_| ());
        state.ended.is_some()
    }

    /// The row with the key `key`, if it was read recently and has not been written since then.
    /// Call this before reading the item from the database.
    pub(super) fn find(&self, key: &Key) -> Lookup<Key, Arc<Row>> {
        let mut state = self.state();
        let kept = kept(&mut state.rows, key);
        kept.map_or_else(|| Lookup::Unknown(state.unknown(key, self.group(key))), Lookup::Kept)
    }

    /// The page, if it was read recently and its partition has not been written since then. Call
    /// this before reading the page from the database.
    pub(super) fn find_page(&self, read: &ReadPage) -> Lookup<ReadPage, Page> {
        let mut state = self.state();
        let kept = kept(&mut state.pages, &read.pk).filter(|(kept, _)| kept == read).map(|(_, page)| page);
        kept.map_or_else(|| Lookup::Unknown(state.unknown(read, self.group(&read.pk))), Lookup::Kept)
    }

    /// Keeps a row that was read from the database, unless a write may have changed it since
    /// [`Self::find`].
    pub(super) fn keep(&self, unknown: Unknown<Key>, row: &Arc<Row>) {
        if size(row.item()) <= MAX_ITEM_BYTES {
            let mut state = self.state();
            if state.is_unchanged(&unknown) {
                keep(&mut state.rows, unknown.key, (unknown.asked_at, Arc::clone(row)));
            }
        }
    }

    /// Like [`Self::keep`], but for a page.
    pub(super) fn keep_page(&self, unknown: Unknown<ReadPage>, page: &Page) {
        if page.rows.iter().map(|row| size(row.item())).sum::<usize>() <= MAX_PAGE_BYTES {
            let mut state = self.state();
            if state.is_unchanged(&unknown) {
                keep(&mut state.pages, unknown.key.pk.clone(), (unknown.asked_at, (unknown.key, page.clone())));
            }
        }
    }

    /// Frees the memory of rows and pages that have expired.
    pub(super) fn forget_expired(&self) {
        let mut state = self.state();
        forget_expired(&mut state.rows);
        forget_expired(&mut state.pages);
    }

    /// Announces a write. Begin the write after this call, and end it before the result is dropped.
    pub(super) fn write(self: &Arc<Self>, written: WrittenItems) -> Write {
        let mut state = self.state();
        let groups = match written {
            WrittenItems::Items(keys) => {
                for key in &keys {
                    state.rows.remove(key);
                    state.pages.remove(&key.pk);
                }
                Some(keys.iter().flat_map(|key| [self.group(key), self.group(&key.pk)]).collect::<Vec<_>>())
            }
            WrittenItems::Any => {
                state.forget();
                None
            }
        };
        state.change(groups.as_deref(), |group| group.under_way += 1);
        drop(state);
        Write { recent: Arc::clone(self), groups }
    }

    /// Whether an announced write is still running.
    pub(super) fn is_writing(&self) -> bool {
        self.state().groups.iter().any(|group| group.under_way > 0)
    }

    fn group(&self, of: &impl Hash) -> usize {
        let hash = self.hasher.hash_one(of);
        usize::try_from(hash % GROUPS as u64).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The unexpired value at `key`.
fn kept<K: Hash + Eq, V: Clone>(cache: &mut Cache<K, V>, key: &K) -> Option<V> {
    let (read_at, value) = cache.get(key)?;
    if read_at.elapsed() < KEPT {
        return Some(value.clone());
    }
    cache.remove(key);
    None
}

/// Keeps a value, and forgets the values that have expired.
fn keep<K: Hash + Eq, V>(cache: &mut Cache<K, V>, key: K, value: (Instant, V)) {
    forget_expired(cache);
    cache.insert(key, value);
}

/// Forgets the least recently used values that have expired.
fn forget_expired<K: Hash + Eq, V>(cache: &mut Cache<K, V>) {
    while cache.iter().next().is_some_and(|(_, (read_at, _))| read_at.elapsed() >= KEPT) {
        cache.remove_lru();
    }
}

impl State {
    fn unknown<K: Clone>(&self, key: &K, group: usize) -> Unknown<K> {
        Unknown { key: key.clone(), group, changes: self.groups[group].changes, asked_at: Instant::now() }
    }

    /// Whether no write is running, and none has begun or ended since the read began.
    fn is_unchanged<K>(&self, unknown: &Unknown<K>) -> bool {
        let group = self.groups[unknown.group];
        group.under_way == 0 && group.changes == unknown.changes
    }

    fn forget(&mut self) {
        self.rows.clear();
        self.pages.clear();
    }

    fn change(&mut self, groups: Option<&[usize]>, count: impl Fn(&mut Group)) {
        let change = |group: &mut Group| {
            count(group);
            group.changes += 1;
        };
        match groups {
            Some(groups) => groups.iter().for_each(|group| change(&mut self.groups[*group])),
            None => self.groups.iter_mut().for_each(change),
        }
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        self.recent.state().change(self.groups.as_deref(), |group| group.under_way -= 1);
    }
}

/// The memory of a map and its contents, in bytes. An item made of many small maps takes hundreds
/// of times the length of its names and values.
fn size(map: &Item) -> usize {
    // A hash table fills at most seven of eight slots.
    let places = map.capacity() + map.capacity().div_ceil(7);
    let table = places * (size_of::<(String, AttributeValue)>() + 1) + ALLOCATION;
    table + map.iter().map(|(name, value)| ALLOCATION + name.len() + size_of_value(value)).sum::<usize>()
}

/// The memory that a value refers to, in bytes, without the value itself.
fn size_of_value(value: &AttributeValue) -> usize {
    let list = |lengths: &mut dyn Iterator<Item = usize>| lengths.map(|length| size_of::<String>() + ALLOCATION + length).sum::<usize>();
    ALLOCATION
        + match value {
            AttributeValue::S(text) => text.len() + size_as_json(text),
            AttributeValue::N(text) => text.len(),
            AttributeValue::B(bytes) => bytes.as_ref().len(),
            AttributeValue::Ss(texts) | AttributeValue::Ns(texts) => list(&mut texts.iter().map(String::len)),
            AttributeValue::Bs(all) => list(&mut all.iter().map(|bytes| bytes.as_ref().len())),
            AttributeValue::L(values) => values.iter().map(|value| size_of::<AttributeValue>() + size_of_value(value)).sum(),
            AttributeValue::M(values) => size(values),
            _ => 0,
        }
}

/// An upper estimate of the memory, in bytes, that a text takes when it is parsed as JSON; 0 if it
/// cannot be an object or a list. Rows are kept together with their entities, which contain parsed
/// metadata. A small object takes ninety times the length of its text.
fn size_as_json(text: &str) -> usize {
    /// The B-tree node that contains the first names and values of an object.
    const OBJECT: usize = 11 * (size_of::<String>() + size_of::<serde_json::Value>()) + 48 + ALLOCATION;
    /// A value with its name, or its slot in a list, which starts with four slots and doubles when
    /// full.
    const VALUE: usize = 4 * size_of::<serde_json::Value>() + size_of::<String>() + 2 * ALLOCATION;
    if !text.starts_with(['{', '[']) {
        return 0;
    }
    let of = |byte| match byte {
        b'{' => OBJECT,
        b'[' | b',' => VALUE,
        _ => 0,
    };
    text.len() + text.bytes().map(of).sum::<usize>()
}
