//! The rows and pages that were read last, as the store receives them. The next read of them takes
//! neither the database nor the parsing of stored JSON, nor the deserialising of entities.
//!
//! Reads remain strongly consistent, because every write is announced. A write of this process
//! removes its rows, and the pages of their partitions, before it begins. While it is under way,
//! and if it began or ended while a row was being read, that row is not kept. Once another process
//! begins to write ([`writers`]), reads go to the database until the write has ended, and
//! everything is forgotten then.
//!
//! [`writers`]: super::writers

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::AttributeValue;
use hashlink::LruCache;
use store::Key;
use store::row::{Page, ReadPage, Row};

use super::calls::Written;
use super::writers::Writers;

pub(super) type Item = HashMap<String, AttributeValue>;

/// The maximum number of rows. A user has about 6 KB in this form, a project about 15.
const MOST: usize = 500;
/// The maximum number of pages, each of another partition.
const MOST_PAGES: usize = 50;
/// The size of the largest item that is kept, in bytes of memory; all rows have 16 MB at most.
const LARGEST: usize = 32 << 10;
/// The size of the largest page that is kept, in bytes of memory; all pages have 6.4 MB at most. A
/// page of eleven sessions has about 40 KB.
const LARGEST_PAGE: usize = 128 << 10;
/// An estimate of what the allocator adds to each allocation, in bytes.
const ALLOCATION: usize = 16;
/// How long rows and pages are kept. This bounds the effect of writes that nobody announces, such
/// as those of a person who opens the file with another program.
const KEPT: Duration = Duration::from_secs(2);
/// The number of groups into which keys are divided to recognize concurrent writes.
const GROUPS: usize = 1024;

/// The rows and pages that were read last.
pub(super) struct Recent {
    hasher: RandomState,
    state: Mutex<State>,
    /// Unset if nothing is kept; `None` if no other process can write to the table.
    writers: OnceLock<Option<Writers>>,
}

/// What is kept, each with the time when it was read.
type Cache<K, V> = LruCache<K, (Instant, V)>;

struct State {
    rows: Cache<Key, Arc<Row>>,
    /// Of each partition, the page that was read last.
    pages: Cache<String, (ReadPage, Page)>,
    groups: Vec<Group>,
    /// The number of writes by other processes that had ended when everything was last forgotten.
    ended: Option<u64>,
}

/// The writes to the keys or to the partitions of a group.
#[derive(Clone, Copy, Default)]
struct Group {
    /// How many are under way.
    under_way: u32,
    /// How often one began or ended.
    changes: u64,
}

/// What is known about a row or a page before it is read from the database.
pub(super) enum Found<K, V> {
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

/// A write that is under way, until this value is dropped.
pub(super) struct Write {
    recent: Arc<Recent>,
    /// `None` for all groups.
    groups: Option<Vec<usize>>,
}

impl Default for Recent {
    fn default() -> Self {
        let groups = vec![Group::default(); GROUPS];
        let state = State { rows: LruCache::new(MOST), pages: LruCache::new(MOST_PAGES), groups, ended: None };
        Self { hasher: RandomState::new(), state: Mutex::new(state), writers: OnceLock::new() }
    }
}

impl Recent {
    /// Begins to keep rows. `writers` are the other processes that can write to the table, if any
    /// can.
    pub(super) fn begin(&self, writers: Option<Writers>) {
        // The first call decides; there is only one table.
        let _ = self.writers.set(writers);
    }

    /// Whether rows are kept. If not, this process must announce its writes to the one that keeps
    /// them.
    pub(super) fn is_begun(&self) -> bool {
        self.writers.get().is_some()
    }

    /// Whether kept rows can be used now, and read ones kept. Call it at the beginning of each
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

    /// The row with this key, if it was read recently and not written since. Call it before the
    /// item is read from the database.
    pub(super) fn find(&self, key: &Key) -> Found<Key, Arc<Row>> {
        let mut state = self.state();
        let kept = kept(&mut state.rows, key);
        kept.map_or_else(|| Found::Unknown(state.unknown(key, self.group(key))), Found::Kept)
    }

    /// The page, if it was read recently and its partition not written since. Call it before the
    /// page is read from the database.
    pub(super) fn find_page(&self, read: &ReadPage) -> Found<ReadPage, Page> {
        let mut state = self.state();
        let kept = kept(&mut state.pages, &read.pk).filter(|(kept, _)| kept == read).map(|(_, page)| page);
        kept.map_or_else(|| Found::Unknown(state.unknown(read, self.group(&read.pk))), Found::Kept)
    }

    /// Keeps a row that was read from the database, unless a write could have changed it since
    /// [`Self::find`] was called.
    pub(super) fn keep(&self, unknown: Unknown<Key>, row: &Arc<Row>) {
        if size(row.item()) <= LARGEST {
            let mut state = self.state();
            if state.is_unchanged(&unknown) {
                keep(&mut state.rows, unknown.key, (unknown.asked_at, Arc::clone(row)));
            }
        }
    }

    /// Like [`Self::keep`], for a page.
    pub(super) fn keep_page(&self, unknown: Unknown<ReadPage>, page: &Page) {
        if page.rows.iter().map(|row| size(row.item())).sum::<usize>() <= LARGEST_PAGE {
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

    /// Announces a write. It must not begin earlier, and must have ended when the result is
    /// dropped.
    pub(super) fn write(self: &Arc<Self>, written: Written) -> Write {
        let mut state = self.state();
        let groups = match written {
            Written::Items(keys) => {
                for key in &keys {
                    state.rows.remove(key);
                    state.pages.remove(&key.pk);
                }
                Some(keys.iter().flat_map(|key| [self.group(key), self.group(&key.pk)]).collect::<Vec<_>>())
            }
            Written::Any => {
                state.forget();
                None
            }
        };
        state.change(groups.as_deref(), |group| group.under_way += 1);
        drop(state);
        Write { recent: Arc::clone(self), groups }
    }

    fn group(&self, of: &impl Hash) -> usize {
        let hash = self.hasher.hash_one(of);
        usize::try_from(hash % GROUPS as u64).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is kept at `key` and has not expired.
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

    /// Whether no write has begun or ended since the read began, and none is under way.
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

/// The memory of a map in bytes, with what it contains. An item of many small maps takes hundreds
/// of times the length of its names and values.
fn size(map: &Item) -> usize {
    // Of every eight places of a table, seven are used at most.
    let places = map.capacity() + map.capacity().div_ceil(7);
    let table = places * (size_of::<(String, AttributeValue)>() + 1) + ALLOCATION;
    table + map.iter().map(|(name, value)| ALLOCATION + name.len() + size_of_value(value)).sum::<usize>()
}

/// The memory of a value in bytes, without the place of the value itself.
fn size_of_value(value: &AttributeValue) -> usize {
    let list = |lengths: &mut dyn Iterator<Item = usize>| lengths.map(|length| size_of::<String>() + ALLOCATION + length).sum::<usize>();
    ALLOCATION
        + match value {
            AttributeValue::S(text) | AttributeValue::N(text) => text.len(),
            AttributeValue::B(bytes) => bytes.as_ref().len(),
            AttributeValue::Ss(texts) | AttributeValue::Ns(texts) => list(&mut texts.iter().map(String::len)),
            AttributeValue::Bs(all) => list(&mut all.iter().map(|bytes| bytes.as_ref().len())),
            AttributeValue::L(values) => values.iter().map(|value| size_of::<AttributeValue>() + size_of_value(value)).sum(),
            AttributeValue::M(values) => size(values),
            _ => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(sk: usize) -> Key {
        Key::new("A", sk.to_string())
    }

    fn item(text: &str) -> Item {
        HashMap::from([("a".to_owned(), AttributeValue::S(text.to_owned()))])
    }

    fn row(text: &str) -> Arc<Row> {
        Arc::new(Row::new(item(text)))
    }

    fn unknown(recent: &Recent, key: Key) -> Unknown<Key> {
        match recent.find(&key) {
            Found::Unknown(unknown) => unknown,
            Found::Kept(row) => panic!("{row:?} is kept"),
        }
    }

    fn is_kept(recent: &Recent, key: Key) -> bool {
        matches!(recent.find(&key), Found::Kept(_))
    }

    #[test]
    fn an_item_is_kept_until_it_is_written() {
        let recent = Arc::new(Recent::default());
        let other = (2..100).find(|sk| recent.group(&key(*sk)) != recent.group(&key(1))).expect("another group");
        for sk in [1, other] {
            recent.keep(unknown(&recent, key(sk)), &row("x"));
        }
        let write = recent.write(Written::Items(vec![key(1)]));
        assert!(!is_kept(&recent, key(1)) && is_kept(&recent, key(other)));
        recent.keep(unknown(&recent, key(1)), &row("x"));
        assert!(!is_kept(&recent, key(1)), "the write is under way");
        drop(write);
        recent.keep(unknown(&recent, key(1)), &row("y"));
        assert!(is_kept(&recent, key(1)));
        drop(recent.write(Written::Any));
        assert!(!is_kept(&recent, key(1)) && !is_kept(&recent, key(other)));
    }

    #[test]
    fn an_item_that_was_read_during_a_write_is_not_kept() {
        let recent = Arc::new(Recent::default());
        for written in [|| Written::Items(vec![key(1)]), || Written::Any] {
            let before = unknown(&recent, key(1));
            let write = recent.write(written());
            let during = unknown(&recent, key(1));
            drop(write);
            for read in [before, during] {
                recent.keep(read, &row("old"));
                assert!(!is_kept(&recent, key(1)));
            }
        }
    }

    #[test]
    fn neither_many_items_nor_large_ones_fill_the_memory() {
        let recent = Recent::default();
        recent.keep(unknown(&recent, key(0)), &row(&"x".repeat(LARGEST)));
        assert!(!is_kept(&recent, key(0)));
        for sk in 1..=MOST + 10 {
            recent.keep(unknown(&recent, key(sk)), &row("x"));
            assert!(is_kept(&recent, key(1)), "the first is used the most");
        }
        assert_eq!(recent.state().rows.len(), MOST);
        assert!(!is_kept(&recent, key(2)));
    }

    #[test]
    fn an_item_counts_with_the_overhead_of_its_maps_and_lists() {
        let recent = Recent::default();
        let small = || AttributeValue::M(item(""));
        let list =
            |value: &dyn Fn() -> AttributeValue| HashMap::from([("a".to_owned(), AttributeValue::L((0..4096).map(|_| value()).collect()))]);
        // Names and values have 8 KB, the tables of the maps more than a megabyte.
        let maps = list(&small);
        assert!(size(&maps) > 4096 * 4 * size_of::<(String, AttributeValue)>());
        for item in [maps, list(&|| AttributeValue::Null(true)), list(&|| AttributeValue::Ss(vec![String::new()]))] {
            recent.keep(unknown(&recent, key(0)), &Arc::new(Row::new(item)));
            assert!(!is_kept(&recent, key(0)));
        }
    }

    #[test]
    fn expired_items_are_forgotten_when_others_are_kept() {
        let recent = Recent::default();
        for sk in 0..10 {
            recent.keep(unknown(&recent, key(sk)), &row("x"));
        }
        let long_ago = Instant::now().checked_sub(KEPT).expect("the machine has run for a while");
        recent.state().rows.iter_mut().take(9).for_each(|(_, (read_at, _))| *read_at = long_ago);
        recent.keep(unknown(&recent, key(10)), &row("x"));
        let left: Vec<_> = recent.state().rows.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(left, [key(9), key(10)]);
        recent.state().rows.iter_mut().for_each(|(_, (read_at, _))| *read_at = long_ago);
        assert!(!is_kept(&recent, key(9)));
        assert_eq!(recent.state().rows.len(), 1);
        recent.forget_expired();
        assert_eq!(recent.state().rows.len(), 0);
    }
}
