//! Counters of limits.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | counter | `L#<P>#<rule>#<subject>#<window>` | `COUNT` | 1 unit to count, whether or not it is let through; 2 in a transaction |
//! | in place of a user who is not there | `X#<P>#<subject>` | `DECOY` | 1 unit |
//!
//! One conditional update counts, so no two processes let more through together than one alone. The window is in the key: that of the
//! window before is read beside, and older ones are deleted by TTL. What is refused because of the window before has been counted, and
//! what is refused because its own window is full has not.

use jiff::{SignedDuration, Timestamp};
use model::limit::{Counter, Refused, Subject};
use wire::clock::after;
use wire::id::ProjectId;

use crate::client::Store;
use crate::error::Error;
use crate::item::{Item, Key, integer, number};
use crate::table;
use crate::write::Write;

fn key_of(project: &ProjectId, name: &str) -> Key {
    Key::new(format!("L#{project}#{name}"), "COUNT")
}

pub(crate) fn counter_key(project: &ProjectId, counter: &Counter) -> Key {
    key_of(project, &counter.to_string())
}

/// The key of the window before.
pub fn key_before(project: &ProjectId, counter: &Counter) -> Key {
    key_of(project, &counter.before())
}

/// What an item has counted; nothing where there is none.
pub fn counted(item: Option<&Item>) -> u32 {
    item.and_then(|item| number(item, "n")).unwrap_or_default()
}

/// The condition that a window has room for one more.
fn with_room(write: Write, quota: u32, refusal: Refused) -> Write {
    // What is not there is less than any quota but none.
    let condition = if quota == 0 { "n < :quota" } else { "attribute_not_exists(n) OR n < :quota" };
    write.on(condition).value(":quota", integer(quota)).or_refuse(refusal)
}

/// Counts one, whatever it has counted.
pub(crate) fn add(project: &ProjectId, counter: &Counter) -> Write {
    Write::update(counter_key(project, counter), "SET #ttl = :ttl ADD n :one")
        .name("#ttl", table::TTL)
        .value(":one", integer(1))
        .value(":ttl", integer(forgotten_at(counter).as_second()))
}

/// A counter, and what the window before it has counted: enough to count in a transaction.
#[derive(Debug, Clone)]
pub struct Window {
    counter: Counter,
    before: u32,
}

impl Window {
    /// A window as if nothing had been counted before it.
    pub fn alone(counter: &Counter) -> Self {
        Self { counter: counter.clone(), before: 0 }
    }

    /// A window after one that counted `before`.
    pub(crate) fn after(before: u32, counter: Counter) -> Self {
        Self { counter, before }
    }

    /// Counts one, unless the limit is reached: then it is [`Error::Limited`], of a transaction too.
    pub fn count(&self, project: &ProjectId) -> Write {
        with_room(add(project, &self.counter), self.quota(), self.refusal())
    }

    /// Fails the transaction by [`Error::Limited`] when the limit is reached, and counts nothing.
    pub fn check(&self, project: &ProjectId) -> Write {
        with_room(Write::look(counter_key(project, &self.counter)), self.quota(), self.refusal())
    }

    fn quota(&self) -> u32 {
        self.counter.quota_after(self.before)
    }

    fn refusal(&self) -> Refused {
        self.counter.refusal(self.before)
    }
}

/// Whether a window that has counted `counted`, with the one to judge, has room for it after `before`.
pub fn judge(counter: &Counter, before: u32, counted: u32) -> Result<(), Error> {
    if counted <= counter.quota_after(before) { Ok(()) } else { Err(Error::Limited(counter.refusal_at(before, counted))) }
}

/// Counts from nothing again.
pub fn forget(project: &ProjectId, counter: &Counter) -> [Write; 2] {
    [counter_key(project, counter), key_before(project, counter)].map(Write::delete)
}

/// Counts something that nobody reads.
pub fn count_nobody(project: &ProjectId, subject: &Subject, now: Timestamp) -> Write {
    let key = Key::new(format!("X#{project}#{subject}"), "DECOY");
    Write::update(key, "SET #ttl = :ttl ADD n :one")
        .name("#ttl", table::TTL)
        .value(":one", integer(1))
        .value(":ttl", integer(after(now, MARGIN).as_second()))
}

/// Longer than clocks of instances differ.
const MARGIN: SignedDuration = SignedDuration::from_mins(10);

/// Later than the window by more than clocks of instances differ.
fn forgotten_at(counter: &Counter) -> Timestamp {
    after(counter.resets_at, MARGIN)
}

impl Store {
    /// Counts one, and says how many the window has counted with it; [`Error::Limited`] when it has counted all of its quota. What the
    /// window before has counted is the caller's to judge.
    pub async fn count_alone(&self, project: &ProjectId, counter: &Counter) -> Result<u32, Error> {
        let write = with_room(add(project, counter), counter.quota(), counter.refusal_at(0, counter.quota()));
        let item = self.write_unrecorded_returning(write).await?;
        Ok(counted(Some(&item)))
    }

    /// Counts one; [`Error::Limited`] when the limit is reached. 2 units.
    pub async fn count(&self, project: &ProjectId, counter: &Counter) -> Result<(), Error> {
        let (window, counted) = futures_util::try_join!(self.window(project, counter), self.count_alone(project, counter))?;
        judge(counter, window.before, counted)
    }

    /// The counter with what the window before has counted. 1 unit.
    pub async fn window(&self, project: &ProjectId, counter: &Counter) -> Result<Window, Error> {
        let before = self.get(&key_before(project, counter)).await?;
        Ok(Window { counter: counter.clone(), before: counted(before.as_ref()) })
    }

    /// Looks without counting; [`Error::Limited`] when the limit is reached. 2 units.
    pub async fn check_limit(&self, project: &ProjectId, counter: &Counter) -> Result<Window, Error> {
        let (key, key_before) = (counter_key(project, counter), key_before(project, counter));
        let items = self.get_many([key.clone(), key_before.clone()]).await?;
        let window = Window { counter: counter.clone(), before: counted(items.get(&key_before).as_ref()) };
        let counted = counted(items.get(&key).as_ref());
        if counted < window.quota() { Ok(window) } else { Err(Error::Limited(counter.refusal_at(window.before, counted))) }
    }
}
