//! What a process remembers between requests: which projects and keys exist, which rate limits have
//! been reached, and which trail entries have the maximum count of rejected sign-ups. Remembering
//! these facts saves calls to the table; forgotten facts are looked up again. Some counts exist
//! only in this memory: requests without an existing project, wrong keys at operations without a
//! rate limit, reports of exposed API keys, checks of versions, and clients' reads. Requests that
//! count for a whole IP address or network are first counted in this memory
//! ([`Rule::is_batched`](model::limit::Rule::is_batched)).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use jiff::{SignedDuration, Timestamp};
use model::limit::{Counter, Refusal};
use tokio::sync::Semaphore;
use wire::clock::after;
use wire::id::ProjectId;

/// The maximum number of remembered facts of each kind. At the maximum, all facts of the kind are
/// forgotten, so that a flood cannot fill the memory. Of the counters that is kept only in this
/// process, only the lowest are forgotten.
const MAX_FACTS: usize = 10_000;

/// The facts that a process remembers.
#[derive(Debug, Clone, Default)]
pub struct Memory(Arc<Mutex<MemoryState>>);

#[derive(Debug, Default)]
struct MemoryState {
    /// The names of projects and keys that exist.
    seen: HashSet<String>,
    /// For each full counter, the refusal and the time when it ends.
    refused: HashMap<String, (Timestamp, Refusal)>,
    /// Counters that are not stored in the table, by name or, for a project's counters, by project
    /// and name.
    counters: HashMap<String, Tally>,
    /// Counters that add several requests at a time to the table, by project and name.
    batches: HashMap<String, Batch>,
    /// The names of trail entries with the maximum count of rejected sign-ups.
    full: HashSet<String>,
    /// Slots for attempts in progress, by project and counter.
    places: HashMap<String, Weak<Semaphore>>,
}

/// A counter that is not stored in the table.
#[derive(Debug, Clone, Copy)]
struct Tally {
    count: u32,
    /// The time when the counter becomes irrelevant.
    ends_at: Timestamp,
}

/// A counter in the table, and the requests that this process has not added to it yet.
#[derive(Debug, Clone, Copy, Default)]
struct Batch {
    /// The count last seen in the table.
    counted: u32,
    /// The last known count of the previous window.
    before: u32,
    /// Requests not counted in the table yet.
    pending: u32,
}

impl Batch {
    fn total(self) -> u32 {
        self.counted.saturating_add(self.pending)
    }
}

/// The maximum number of requests of a batched counter that a process holds before it adds them to
/// the table.
const MAX_PENDING: u32 = 10;

impl Memory {
    /// Slots for the attempts in progress that a counter counts: as many as the counter's quota,
    /// but at least one. The slots are forgotten when nobody holds one or waits for one.
    pub(crate) fn places(&self, project: &ProjectId, counter: &Counter) -> Arc<Semaphore> {
        let (mut learnt, name) = (self.learnt(), full_name(project, counter));
        if let Some(places) = learnt.places.get(&name).and_then(Weak::upgrade) {
            return places;
        }
        learnt.places.retain(|_, places| places.strong_count() > 0);
        let places = Arc::new(Semaphore::new(usize::try_from(counter.quota().max(1)).unwrap_or(Semaphore::MAX_PERMITS)));
        learnt.places.insert(name, Arc::downgrade(&places));
        places
    }

    /// Remembers that the project or key with this name exists.
    pub fn saw(&self, name: &str) {
        let mut learnt = self.learnt();
        if !learnt.seen.contains(name) {
            make_room(learnt.seen.len(), || learnt.seen.clear());
            learnt.seen.insert(name.to_owned());
        }
    }

    /// Whether the process remembers that the project or key with this name exists.
    pub fn has_seen(&self, name: &str) -> bool {
        self.learnt().seen.contains(name)
    }

    /// Remembers that a counter of a project is full.
    pub fn refused(&self, project: &ProjectId, counter: &Counter, refusal: Refusal) {
        let seconds = i64::try_from(refusal.retry_after_seconds).unwrap_or(i64::MAX);
        let until = after(counter.now(), SignedDuration::from_secs(seconds));
        let mut learnt = self.learnt();
        make_room(learnt.refused.len(), || learnt.refused.clear());
        learnt.refused.insert(full_name(project, counter), (until, refusal));
    }

    /// The refusal by a counter known to be full; `None` for any other counter.
    pub fn refusal(&self, project: &ProjectId, counter: &Counter) -> Option<Refusal> {
        let (until, refusal) = *self.learnt().refused.get(&full_name(project, counter))?;
        let left = u64::try_from(until.as_millisecond() - counter.now().as_millisecond()).ok().filter(|left| *left > 0)?;
        Some(Refusal { retry_after_seconds: left.div_ceil(1000), ..refusal })
    }

    /// Counts one request, in this process only.
    pub fn count(&self, counter: &Counter) -> Result<(), Refusal> {
        let mut learnt = self.learnt();
        learnt.room(counter, &counter.before(), &counter.to_string())?;
        learnt.add(counter, counter.to_string(), 1);
        Ok(())
    }

    /// The count of a project's counter that is kept only in this process, if the counter is not
    /// full.
    pub fn room(&self, project: &ProjectId, counter: &Counter) -> Result<u32, Refusal> {
        self.learnt().room(counter, &format!("{project}#{}", counter.before()), &full_name(project, counter))
    }

    /// Adds to a project's counter that is kept only in this process, even beyond the counter's
    /// quota.
    pub fn spend(&self, project: &ProjectId, counter: &Counter, count: u32) {
        self.learnt().add(counter, full_name(project, counter), count);
    }

    /// Counts a request `weight` times. Returns the number to add to the counter in the table now,
    /// or 0 to wait. After adding, call [`Self::carried`].
    pub fn batch(&self, project: &ProjectId, counter: &Counter, weight: u32) -> Result<u32, Refusal> {
        let mut learnt = self.learnt();
        let name = full_name(project, counter);
        if !learnt.batches.contains_key(&name) {
            let before = learnt.batches.get(&format!("{project}#{}", counter.before())).map_or(0, |before| before.total());
            make_room(learnt.batches.len(), || learnt.batches.clear());
            learnt.batches.insert(name.clone(), Batch { before, ..Batch::default() });
        }
        let Some(batch) = learnt.batches.get_mut(&name) else { return Ok(0) };
        if batch.total() >= counter.quota_after(batch.before) {
            return Err(counter.refusal_at(batch.before, batch.total()));
        }
        batch.pending = batch.pending.saturating_add(weight);
        Ok(if batch.pending < MAX_PENDING { 0 } else { std::mem::take(&mut batch.pending) })
    }

    /// Remembers the table's counts of this window and the previous one.
    pub fn carried(&self, project: &ProjectId, counter: &Counter, before: u32, counted: u32) {
        if let Some(batch) = self.learnt().batches.get_mut(&full_name(project, counter)) {
            batch.counted = batch.counted.max(counted);
            batch.before = batch.before.max(before);
        }
    }

    /// The names of batched counters that are not zero, each with its project, as in the key of its
    /// item.
    pub fn batched(&self) -> Vec<String> {
        self.learnt().batches.iter().filter(|(_, batch)| batch.total() > 0).map(|(name, _)| name.clone()).collect()
    }

    /// Remembers that a trail entry of rejected sign-ups has reached the maximum count.
    pub fn fill(&self, entry: String) {
        let mut learnt = self.learnt();
        make_room(learnt.full.len(), || learnt.full.clear());
        learnt.full.insert(entry);
    }

    /// Whether a trail entry of rejected sign-ups is known to have reached the maximum count.
    pub fn is_full(&self, entry: &str) -> bool {
        self.learnt().full.contains(entry)
    }

    /// Forgets everything, as if the process had just started.
    pub fn forget(&self) {
        *self.learnt() = MemoryState::default();
    }

    fn learnt(&self) -> MutexGuard<'_, MemoryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryState {
    /// The count of a counter that is kept only in this process, if the counter is not full;
    /// `before` and `now` are its names in the previous and the current window.
    fn room(&self, counter: &Counter, before: &str, now: &str) -> Result<u32, Refusal> {
        let [before, counted] = [before, now].map(|name| self.counters.get(name).map_or(0, |tally| tally.count));
        if counted >= counter.quota_after(before) { Err(counter.refusal_at(before, counted)) } else { Ok(counted) }
    }

    fn add(&mut self, counter: &Counter, name: String, count: u32) {
        if self.counters.len() >= MAX_FACTS {
            self.forget_lowest(counter.now());
        }
        let tally = self.counters.entry(name).or_insert(Tally { count: 0, ends_at: counter.ends_at() });
        tally.count = tally.count.saturating_add(count);
    }

    /// Forgets the counters that no longer matter, and then the lowest ones until half of the
    /// maximum is free. The highest counters are kept, so a flood of subjects does not end the
    /// refusal of another subject.
    fn forget_lowest(&mut self, now: Timestamp) {
        self.counters.retain(|_, tally| tally.ends_at > now);
        let mut lowest = 1_u32;
        while self.counters.len() > MAX_FACTS / 2 {
            self.counters.retain(|_, tally| tally.count > lowest);
            lowest = lowest.saturating_mul(2);
        }
    }
}

fn make_room(len: usize, forget: impl FnOnce()) {
    if len >= MAX_FACTS {
        forget();
    }
}

fn full_name(project: &ProjectId, counter: &Counter) -> String {
    format!("{project}#{counter}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::limit::{Limits, Rate, Rule, Subject};

    fn counter(name: &str, seconds: i64) -> Counter {
        let limits = Limits::off().with(Rule::Unproved, Some(Rate::new(2, 60)));
        let now = Timestamp::from_second(1_767_268_800 + seconds).expect("in range");
        limits.counter(Rule::Unproved, &Subject::email(name), now).expect("it is on")
    }

    #[test]
    fn a_process_counter_admits_its_quota_and_more_after_the_wait() {
        let memory = Memory::default();
        assert_eq!((memory.count(&counter("a", 0)), memory.count(&counter("a", 0))), (Ok(()), Ok(())));
        let refused = memory.count(&counter("a", 0)).expect_err("it is full");
        assert_eq!(memory.count(&counter("b", 0)), Ok(()));
        let wait = i64::try_from(refused.retry_after_seconds).expect("small");
        assert!(memory.count(&counter("a", wait - 1)).is_err());
        assert_eq!(memory.count(&counter("a", wait)), Ok(()));
    }

    #[test]
    fn a_remembered_refusal_applies_only_to_its_project_and_counter() {
        let memory = Memory::default();
        let (project, other) = (ProjectId::internal(), ProjectId::parse("6fbbf22e-f4b2-4c6e-95a1-beab6fa41063").expect("an id"));
        let refusal = Refusal { retry_after_seconds: 5, ..counter("a", 0).refusal(0) };
        memory.refused(&project, &counter("a", 0), refusal);
        assert_eq!(memory.refusal(&project, &counter("a", 0)), Some(refusal));
        assert_eq!(memory.refusal(&other, &counter("a", 0)), None);
        assert_eq!(memory.refusal(&project, &counter("b", 0)), None);
    }

    #[test]
    fn a_batched_counter_is_exact_in_one_process_and_gives_the_table_ten_at_a_time() {
        let (memory, project) = (Memory::default(), ProjectId::internal());
        let at = |seconds: i64| {
            let limits = Limits::off().with(Rule::WriteAddress, Some(Rate::new(25, 60)));
            let now = Timestamp::from_second(1_767_268_800 + seconds).expect("in range");
            limits.counter(Rule::WriteAddress, &Subject::email("a"), now).expect("it is on")
        };
        let (mut in_table, mut carried) = (0, Vec::new());
        for _ in 0..25 {
            match memory.batch(&project, &at(0), 1).expect("there is room") {
                0 => {}
                count => {
                    in_table += count;
                    carried.push(count);
                    memory.carried(&project, &at(0), 0, in_table);
                }
            }
        }
        assert_eq!(carried, [10, 10]);
        let refused = memory.batch(&project, &at(0), 1).expect_err("it is full");
        assert_eq!(memory.batch(&project, &at(i64::try_from(refused.retry_after_seconds).expect("small")), 1), Ok(0));
    }

    #[test]
    fn another_process_sees_what_the_table_counts() {
        let (memory, project, counter) = (Memory::default(), ProjectId::internal(), counter("a", 0));
        assert_eq!(memory.batch(&project, &counter, 10), Ok(10));
        // Other processes have used up the quota.
        memory.carried(&project, &counter, 0, 2);
        assert!(memory.batch(&project, &counter, 1).is_err());
        assert_eq!(memory.batched(), [full_name(&project, &counter)]);
    }

    #[test]
    fn a_flood_of_subjects_does_not_fill_the_memory() {
        let memory = Memory::default();
        for number in 0..MAX_FACTS * 2 + 10 {
            memory.count(&counter(&number.to_string(), 0)).expect("each is new");
        }
        assert!(memory.learnt().counters.len() <= MAX_FACTS);
        let project = ProjectId::internal();
        for number in 0..MAX_FACTS * 2 + 10 {
            memory.batch(&project, &counter(&number.to_string(), 0), 1).expect("each is new");
        }
        assert!(memory.learnt().batches.len() <= MAX_FACTS);
    }

    #[test]
    fn a_flood_of_subjects_ends_no_refusal() {
        let memory = Memory::default();
        assert_eq!((memory.count(&counter("a", 0)), memory.count(&counter("a", 0))), (Ok(()), Ok(())));
        let refused = memory.count(&counter("a", 0)).expect_err("it is full");
        for number in 0..MAX_FACTS * 3 {
            memory.count(&counter(&number.to_string(), 1)).expect("each is new");
        }
        assert!(memory.count(&counter("a", 1)).is_err());
        let later = i64::try_from(refused.retry_after_seconds).expect("small") + 120;
        for number in 0..MAX_FACTS {
            memory.count(&counter(&number.to_string(), later)).expect("each is new");
        }
        assert!(memory.learnt().counters.values().all(|tally| tally.count == 1), "what no longer matters goes first");
    }
}
