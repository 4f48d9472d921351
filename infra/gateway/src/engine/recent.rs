//! The items that were read last, as the client receives them. The next read of such an item takes
//! neither the database nor the parsing of its stored JSON.
//!
//! Reads remain strongly consistent, because every write is announced. A write of this process
//! removes its items before it begins. While it is under way, and if it began or ended while an
//! item was being read, that item is not kept. Once another process begins to write ([`writers`]),
//! reads go to the database until the write has ended, and all items are forgotten then.
//!
//! [`writers`]: super::writers

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use aws_sdk_dynamodb::types::AttributeValue;
use hashlink::LruCache;

use super::calls::{ItemKey, Written};
use super::writers::Writers;

pub(super) type Item = HashMap<String, AttributeValue>;

/// The maximum number of items. A user has about 6 KB in this form, a project about 15.
const MOST: usize = 500;
/// The size of the largest item that is kept, in bytes of memory; all items have 16 MB at most.
const LARGEST: usize = 32 << 10;
/// An estimate of what the allocator adds to each allocation, in bytes.
const ALLOCATION: usize = 16;
/// How long an item is kept. This bounds the effect of writes that nobody announces, such as those
/// of a person who opens the file with another program.
const KEPT: Duration = Duration::from_secs(2);
/// The number of groups into which keys are divided to recognize concurrent writes.
const GROUPS: usize = 1024;

/// The items that were read last.
pub(super) struct Recent {
    hasher: RandomState,
    state: Mutex<State>,
    /// Unset if items are not kept; `None` if no other process can write to the table.
    writers: OnceLock<Option<Writers>>,
}

struct State {
    /// The items, each with the time when it was read.
    items: LruCache<ItemKey, (Instant, Arc<Item>)>,
    groups: Vec<Group>,
    /// The number of writes by other processes that had ended when all items were last forgotten.
    ended: Option<u64>,
}

/// The writes to the keys of a group.
#[derive(Clone, Copy, Default)]
struct Group {
    /// How many are under way.
    under_way: u32,
    /// How often one began or ended.
    changes: u64,
}

/// What is known about an item before it is read from the database.
pub(super) enum Found {
    Item(Arc<Item>),
    Unknown(Unknown),
}

/// An item that must be read from the database.
pub(super) struct Unknown {
    key: ItemKey,
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
        let state = State { items: LruCache::new(MOST), groups: vec![Group::default(); GROUPS], ended: None };
        Self { hasher: RandomState::new(), state: Mutex::new(state), writers: OnceLock::new() }
    }
}

impl Recent {
    /// Begins to keep items. `writers` are the other processes that can write to the table, if any
    /// can.
    pub(super) fn begin(&self, writers: Option<Writers>) {
        // The first call decides; there is only one table.
        let _ = self.writers.set(writers);
    }

    /// Whether items are kept. If not, this process must announce its writes to the one that keeps
    /// them.
    pub(super) fn is_begun(&self) -> bool {
        self.writers.get().is_some()
    }

    /// Whether kept items can be used now, and read ones kept. Call it at the beginning of each
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
        state.items.clear();
        state.change(None, |_| ());
        state.ended.is_some()
    }

    /// The item with this key, if it was read recently and not written since. Call it before the
    /// item is read from the database.
    pub(super) fn find(&self, key: ItemKey) -> Found {
        let mut state = self.state();
        match state.items.get(&key) {
            Some((read_at, item)) if read_at.elapsed() < KEPT => return Found::Item(Arc::clone(item)),
            Some(_) => drop(state.items.remove(&key)),
            None => {}
        }
        let group = self.group(&key);
        let changes = state.groups[group].changes;
        Found::Unknown(Unknown { key, group, changes, asked_at: Instant::now() })
    }

    /// Keeps an item that was read from the database, unless a write could have changed it since
    /// [`Self::find`] was called.
    pub(super) fn keep(&self, unknown: Unknown, item: &Item) {
        if size(item) > LARGEST {
            return;
        }
        let item = Arc::new(item.clone());
        let mut state = self.state();
        state.forget_expired();
        let group = state.groups[unknown.group];
        if group.under_way == 0 && group.changes == unknown.changes {
            state.items.insert(unknown.key, (unknown.asked_at, item));
        }
    }

    /// Announces a write. It must not begin earlier, and must have ended when the result is
    /// dropped.
    pub(super) fn write(self: &Arc<Self>, written: Written) -> Write {
        let mut state = self.state();
        let groups = match written {
            Written::Items(keys) => {
                for key in &keys {
                    state.items.remove(key);
                }
                Some(keys.iter().map(|key| self.group(key)).collect::<Vec<_>>())
            }
            Written::Any => {
                state.items.clear();
                None
            }
        };
        state.change(groups.as_deref(), |group| group.under_way += 1);
        drop(state);
        Write { recent: Arc::clone(self), groups }
    }

    fn group(&self, key: &ItemKey) -> usize {
        let hash = self.hasher.hash_one(key);
        usize::try_from(hash % GROUPS as u64).unwrap_or_default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Forgets the least recently used items, up to the first that has not expired.
    fn forget_expired(&mut self) {
        while self.items.iter().next().is_some_and(|(_, (read_at, _))| read_at.elapsed() >= KEPT) {
            self.items.remove_lru();
        }
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

    fn key(sk: usize) -> ItemKey {
        ("A".to_owned(), sk.to_string())
    }

    fn item(text: &str) -> Item {
        HashMap::from([("a".to_owned(), AttributeValue::S(text.to_owned()))])
    }

    fn unknown(recent: &Recent, key: ItemKey) -> Unknown {
        match recent.find(key) {
            Found::Unknown(unknown) => unknown,
            Found::Item(item) => panic!("{item:?} is kept"),
        }
    }

    fn is_kept(recent: &Recent, key: ItemKey) -> bool {
        matches!(recent.find(key), Found::Item(_))
    }

    #[test]
    fn an_item_is_kept_until_it_is_written() {
        let recent = Arc::new(Recent::default());
        let other = (2..100).find(|sk| recent.group(&key(*sk)) != recent.group(&key(1))).expect("another group");
        for sk in [1, other] {
            recent.keep(unknown(&recent, key(sk)), &item("x"));
        }
        let write = recent.write(Written::Items(vec![key(1)]));
        assert!(!is_kept(&recent, key(1)) && is_kept(&recent, key(other)));
        recent.keep(unknown(&recent, key(1)), &item("x"));
        assert!(!is_kept(&recent, key(1)), "the write is under way");
        drop(write);
        recent.keep(unknown(&recent, key(1)), &item("y"));
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
                recent.keep(read, &item("old"));
                assert!(!is_kept(&recent, key(1)));
            }
        }
    }

    #[test]
    fn neither_many_items_nor_large_ones_fill_the_memory() {
        let recent = Recent::default();
        recent.keep(unknown(&recent, key(0)), &item(&"x".repeat(LARGEST)));
        assert!(!is_kept(&recent, key(0)));
        for sk in 1..=MOST + 10 {
            recent.keep(unknown(&recent, key(sk)), &item("x"));
            assert!(is_kept(&recent, key(1)), "the first is used the most");
        }
        assert_eq!(recent.state().items.len(), MOST);
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
            recent.keep(unknown(&recent, key(0)), &item);
            assert!(!is_kept(&recent, key(0)));
        }
    }

    #[test]
    fn expired_items_are_forgotten_when_others_are_kept() {
        let recent = Recent::default();
        for sk in 0..10 {
            recent.keep(unknown(&recent, key(sk)), &item("x"));
        }
        let long_ago = Instant::now().checked_sub(KEPT).expect("the machine has run for a while");
        recent.state().items.iter_mut().take(9).for_each(|(_, (read_at, _))| *read_at = long_ago);
        recent.keep(unknown(&recent, key(10)), &item("x"));
        let left: Vec<_> = recent.state().items.iter().map(|(key, _)| key.clone()).collect();
        assert_eq!(left, [key(9), key(10)]);
        recent.state().items.iter_mut().for_each(|(_, (read_at, _))| *read_at = long_ago);
        assert!(!is_kept(&recent, key(9)));
        assert_eq!(recent.state().items.len(), 1);
    }
}
