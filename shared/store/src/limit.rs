//! Counters of rate limits.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | counter | `L#<P>#<rule>#<subject>#<window>` | `COUNT` | 1 unit to count, even if the request is refused; 2 in a transaction |
//! | decoy for a nonexistent user | `X#<P>#<subject>` | `DECOY` | 1 unit |
//!
//! Counting is one conditional update, so many processes together do not permit more requests than
//! a single process would. The counter's key contains the window. The count of the previous window
//! is read concurrently, and the TTL deletes older windows. A request refused because of the
//! previous window's count has been counted; a request refused because the current window is full
//! has not. A refused transaction counts nothing.

use jiff::{SignedDuration, Timestamp};
use model::limit::{Counter, Refusal, Subject};
use wire::clock::after;
use wire::id::ProjectId;

use crate::table::{self, Error, Item, Key, Store, Write, integer, number};

fn key_of(project: &ProjectId, name: &str) -> Key {
    Key::new(format!("L#{project}#{name}"), "COUNT")
}

pub(crate) fn counter_key(project: &ProjectId, counter: &Counter) -> Key {
    key_of(project, &counter.to_string())
}

/// The key of the previous window's counter.
pub fn key_before(project: &ProjectId, counter: &Counter) -> Key {
    key_of(project, &counter.before())
}

/// The count in an item; 0 if there is no item.
pub fn counted(item: Option<&Item>) -> u32 {
    item.and_then(|item| number(item, "n")).unwrap_or_default()
}

/// Makes a write conditional on fewer than `quota` counted requests in the window.
fn with_room(write: Write, quota: u32, refusal: Refusal) -> Write {
    // A missing count is below every quota except zero.
    let condition = if quota == 0 { "n < :quota" } else { "attribute_not_exists(n) OR n < :quota" };
    write.on(condition).value(":quota", integer(quota)).or_refuse(refusal)
}

/// Counts one request unconditionally.
pub(crate) fn add(project: &ProjectId, counter: &Counter) -> Write {
    add_many(project, counter, 1)
}

fn add_many(project: &ProjectId, counter: &Counter, count: u32) -> Write {
    Write::update(counter_key(project, counter), "SET #ttl = :ttl ADD n :one")
        .name("#ttl", table::TTL)
        .value(":one", integer(count))
        .value(":ttl", integer(forgotten_at(counter).as_second()))
}

/// A counter with the count of the previous window, which is needed for counting in a transaction.
#[derive(Debug, Clone)]
pub struct Window {
    counter: Counter,
    before: u32,
}

impl Window {
    /// A window whose previous window has no counted requests.
    pub fn alone(counter: &Counter) -> Self {
        Self { counter: counter.clone(), before: 0 }
    }

    /// A window whose previous window has `before` counted requests.
    pub(crate) fn after(before: u32, counter: Counter) -> Self {
        Self { counter, before }
    }

    /// Counts one request. If the limit is reached, the write, or the transaction that contains it,
    /// fails with [`Error::Limited`].
    pub fn count(&self, project: &ProjectId) -> Write {
        with_room(add(project, &self.counter), self.quota(), self.refusal())
    }

    /// Checks a count that includes the current request; fails with [`Error::Limited`] if the count
    /// exceeds the limit.
    pub fn judge(&self, counted: u32) -> Result<(), Error> {
        judge(&self.counter, self.before, counted)
    }

    fn quota(&self) -> u32 {
        self.counter.quota_after(self.before)
    }

    fn refusal(&self) -> Refusal {
        self.counter.refusal(self.before)
    }
}

/// Checks a window with `counted` requests, including the current request, after a window with
/// `before` requests; fails with [`Error::Limited`] if the limit is exceeded.
pub fn judge(counter: &Counter, before: u32, counted: u32) -> Result<(), Error> {
    if counted <= counter.quota_after(before) { Ok(()) } else { Err(Error::Limited(counter.refusal_at(before, counted))) }
}

/// Takes back one counted request. Fails with [`Error::Conflict`] if no counted request is left.
pub fn take_back(project: &ProjectId, counter: &Counter) -> Write {
    let write = Write::update(counter_key(project, counter), "ADD n :minus").on("n > :zero");
    write.value(":minus", integer(-1)).value(":zero", integer(0))
}

/// For a nonexistent user, replaces the write that counts a wrong password in the user's item.
/// Increments a counter that nothing reads.
pub fn count_nobody(project: &ProjectId, subject: &Subject, now: Timestamp) -> Write {
    let key = Key::new(format!("X#{project}#{subject}"), "DECOY");
    Write::update(key, "SET #ttl = :ttl ADD n :one")
        .name("#ttl", table::TTL)
        .value(":one", integer(1))
        .value(":ttl", integer(after(now, MARGIN).as_second()))
}

/// An upper bound on the difference between two instances' clocks.
const MARGIN: SignedDuration = SignedDuration::from_mins(10);

/// The time when a counter may be deleted: once its window has ended by every instance's clock.
fn forgotten_at(counter: &Counter) -> Timestamp {
    after(counter.resets_at, MARGIN)
}

impl Store {
    /// Counts one request and returns the window's count; fails with [`Error::Limited`] if the
    /// quota is used up. The caller must take the previous window into account.
    pub async fn count_alone(&self, project: &ProjectId, counter: &Counter) -> Result<u32, Error> {
        let write = with_room(add(project, counter), counter.quota(), counter.refusal_at(0, counter.quota()));
        let item = self.write_unrecorded_returning(write).await?;
        Ok(counted(Some(&item)))
    }

    /// Counts several requests unconditionally, and returns the counts of the previous and the
    /// current window. Costs 1 unit to write and 1 to read.
    pub async fn add(&self, project: &ProjectId, counter: &Counter, count: u32) -> Result<(u32, u32), Error> {
        let add = self.write_unrecorded_returning(add_many(project, counter, count));
        let (window, item) = futures_util::try_join!(self.window(project, counter), add)?;
        Ok((window.before, counted(Some(&item))))
    }

    /// Counts one request; fails with [`Error::Limited`] if the limit is reached. Costs 1 unit to
    /// write and 1 to read.
    pub async fn count(&self, project: &ProjectId, counter: &Counter) -> Result<(), Error> {
        let (window, counted) = futures_util::try_join!(self.window(project, counter), self.count_alone(project, counter))?;
        window.judge(counted)
    }

    /// The writes that reset the counts of the current and the previous window, if there are any.
    /// Costs 2 units to read.
    pub async fn forget_counts(&self, project: &ProjectId, counter: &Counter) -> Result<Vec<Write>, Error> {
        let keys = [counter_key(project, counter), key_before(project, counter)];
        let found = self.get_many(keys.clone()).await?;
        Ok(keys.into_iter().filter(|key| found.has(key)).map(Write::delete).collect())
    }

    /// The counter with the count of the previous window. Costs 1 unit to read.
    pub async fn window(&self, project: &ProjectId, counter: &Counter) -> Result<Window, Error> {
        let before = self.get(&key_before(project, counter)).await?;
        Ok(Window { counter: counter.clone(), before: counted(before.as_ref()) })
    }
}
