//! Counters of limits.
//!
//! | item | pk | sk | cost |
//! |---|---|---|---|
//! | counter | `L#<P>#<rule>#<subject>#<window>` | `COUNT` | 1 unit to count, whether or not it is let through; 2 in a transaction |
//! | in place of a user who is not there | `X#<P>#<subject>` | `DECOY` | 1 unit |
//!
//! One conditional update counts and decides, so no two processes let more through together than one alone. A request that is refused
//! changes nothing. The window is in the key: what is left of one that is over is deleted by TTL, and nobody reads it.

use jiff::{SignedDuration, Timestamp};

use super::{Error, Key, Store, Write, integer, number, table};
use crate::model::id::ProjectId;
use crate::model::limit::{Counter, Subject};
use crate::model::session::after;

fn counter_key(project: &ProjectId, counter: &Counter) -> Key {
    Key::new(format!("L#{project}#{counter}"), "COUNT")
}

const LEFT: &str = "attribute_not_exists(n) OR n < :quota";

/// Counts one, unless the limit is reached: then it is [`Error::Limited`], of a transaction too.
pub fn count(project: &ProjectId, counter: &Counter) -> Write {
    Write::update(counter_key(project, counter), "SET #ttl = :ttl ADD n :one")
        .on(LEFT)
        .name("#ttl", table::TTL)
        .value(":one", integer(1))
        .value(":quota", integer(counter.quota()))
        .value(":ttl", integer(forgotten_at(counter).as_second()))
        .or_refuse(counter.refusal())
}

/// Fails the transaction by [`Error::Limited`] when the limit is reached, and counts nothing.
pub fn check(project: &ProjectId, counter: &Counter) -> Write {
    Write::check(counter_key(project, counter), LEFT).value(":quota", integer(counter.quota())).or_refuse(counter.refusal())
}

/// Counts from nothing again.
pub fn forget(project: &ProjectId, counter: &Counter) -> Write {
    Write::delete(counter_key(project, counter))
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
    /// Counts one; [`Error::Limited`] when the limit is reached.
    pub async fn count(&self, project: &ProjectId, counter: &Counter) -> Result<(), Error> {
        self.write_unrecorded(count(project, counter)).await
    }

    /// Looks without counting; [`Error::Limited`] when the limit is reached. 1 unit.
    pub async fn check_limit(&self, project: &ProjectId, counter: &Counter) -> Result<(), Error> {
        let counted: Option<u32> = self.get(&counter_key(project, counter)).await?.and_then(|item| number(&item, "n"));
        if counted.unwrap_or_default() < counter.quota() { Ok(()) } else { Err(Error::Limited(counter.refusal())) }
    }
}
