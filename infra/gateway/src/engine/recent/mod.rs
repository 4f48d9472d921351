//! The rows and pages read last, as the store receives them. Reading them again takes no database
//! access, no parsing of stored JSON, and no deserialization of entities.
//!
//! Reads remain strongly consistent, because every write is announced. Before a write by this
//! process begins, its rows and the pages of their partitions are removed. A row is not kept if a
//! write to it is running, or began or ended while the row was being read. When another process
//! begins to write ([`writers`]), reads use the database until the write has ended; then everything
//! is forgotten.
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

/// The maximum number of rows. In this form, a user takes about 6 KB, a project about 15.
const MAX_ROWS: usize = 500;
/// The maximum number of pages, one per partition.
const MAX_PAGES: usize = 50;
/// The maximum size of a kept item, in bytes of memory; all rows together take at most 16 MB.
const MAX_ITEM_BYTES: usize = 32 << 10;
/// The maximum size of a kept page, in bytes of memory; all pages together take at most 6.4 MB. A
/// page of eleven sessions takes about 40 KB.
const MAX_PAGE_BYTES: usize = 128 << 10;
/// The estimated overhead of an allocation, in bytes.
const ALLOCATION: usize = 16;
/// How long rows and pages are kept. This limits the effect of writes that are not announced, for
/// example by someone who opens the file in another program.
const KEPT: Duration = Duration::from_secs(2);
/// The number of groups into which keys are divided to recognize concurrent writes.
const GROUPS: usize = 1024;

/// The rows and pages read last.
pub(super) struct RecentReads {
    hasher: RandomState,
    state: Mutex<State>,
    /// Unset if nothing is kept; `None` if no other process can write to the table.
    writers: OnceLock<Option<Writers>>,
}

/// Kept values with the time of the read.
type Cache<K, V> = LruCache<K, (Instant, V)>;

struct State {
    rows: Cache<Key, Arc<Row>>,
    /// The page of each partition that was read last.
    pages: Cache<String, (ReadPage, Page)>,
    groups: Vec<Group>,
    /// The number of finished writes by other processes when the cache was last cleared.
    ended: Option<u64>,
}

/// Counts of the writes to a group's keys or partitions.
#[derive(Clone, Copy, Default)]
struct Group {
    /// How many writes are running.
    under_way: u32,
    /// How many times a write has begun or ended.
    changes: u64,
}

/// What we know about a row or a page before reading it from the database.
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

/// A write that is running until this value is dropped.
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
    /// Begins to keep rows. `writers` are the other processes, if any, that can write to the table.
    pub(super) fn begin(&self, writers: Option<Writers>) {
        // The first call decides; there is only one table.
        let _ = self.writers.set(writers);
    }

    /// Whether rows are kept. If not, this process must announce its writes to the one that keeps
    /// them.
    pub(super) fn is_begun(&self) -> bool {
        self.writers.get().is_some()
    }

    /// Whether rows can be used from and added to the cache. Call it at the beginning of each read.
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

    /// The row with this key, if it was recently read and has not been written since. Call it
    /// before reading the item from the database.
    pub(super) fn find(&self, key: &Key) -> Lookup<Key, Arc<Row>> {
        let mut state = self.state();
        let kept = kept(&mut state.rows, key);
        kept.map_or_else(|| Lookup::Unknown(state.unknown(key, self.group(key))), Lookup::Kept)
    }

    /// The page, if it was recently read and its partition has not been written since. Call it
    /// before reading the page from the database.
    pub(super) fn find_page(&self, read: &ReadPage) -> Lookup<ReadPage, Page> {
        let mut state = self.state();
        let kept = kept(&mut state.pages, &read.pk).filter(|(kept, _)| kept == read).map(|(_, page)| page);
        kept.map_or_else(|| Lookup::Unknown(state.unknown(read, self.group(&read.pk))), Lookup::Kept)
    }

    /// Keeps a row read from the database, unless a write may have changed it since [`Self::find`].
    pub(super) fn keep(&self, unknown: Unknown<Key>, row: &Arc<Row>) {
        if size(row.item()) <= MAX_ITEM_BYTES {
            let mut state = self.state();
            if state.is_unchanged(&unknown) {
                keep(&mut state.rows, unknown.key, (unknown.asked_at, Arc::clone(row)));
            }
        }
    }

    /// Like [`Self::keep`], for a page.
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

    /// Announces a write, which must not begin before this call, and must have ended when the
    /// result is dropped.
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

/// Keeps a value, and forgets others that have expired.
fn keep<K: Hash + Eq, V>(cache: &mut Cache<K, V>, key: K, value: (Instant, V)) {
    forget_expired(cache);
    cache.insert(key, value);
}

/// Forgets the least recently used values, up to the first that has not expired.
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

/// The memory of a map and its contents, in bytes. An item of many small maps takes hundreds of
/// times the length of its names and values.
fn size(map: &Item) -> usize {
    // A table fills at most seven of eight slots.
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

/// An upper estimate of the memory that a text takes when parsed as JSON, in bytes; 0 if it cannot
/// be an object or a list. Rows are kept with their entities, which contain parsed metadata: a
/// small object takes ninety times the length of its text.
fn size_as_json(text: &str) -> usize {
    /// The B-tree node with an object's first names and values.
    const OBJECT: usize = 11 * (size_of::<String>() + size_of::<serde_json::Value>()) + 48 + ALLOCATION;
    /// A value with its name, or its slot in a list, which starts with four slots and doubles.
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
