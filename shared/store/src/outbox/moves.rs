//! Transitions of outbox entries, written one by one or together.
//!
//! Each entry is replaced on the condition that it still has the version that was read, so when an
//! edit and a worker collide over an entry, only one of them succeeds. Many transitions share a
//! transaction, which takes one round trip instead of one for each transition; entries that have
//! changed since they were read are left out and the transaction is tried again. The outcomes are
//! counted in the same transaction ([`crate::outbox::delivery`]). A transaction costs two units for
//! each KB of the entries and counters. Writing a single entry without counts costs half as much.
//! Bodies are written before the transaction, each in a request of its own.

use futures_util::future::try_join_all;

use crate::client::{MAX_WRITES, Store};
use crate::error::Error;
use crate::label::Label;
use crate::outbox::OutboxRow;
use crate::outbox::change::{Replacement, replacement};
use crate::outbox::delivery::{self, counts_of};
use crate::outbox::transition::OutboxMove;
use crate::write::Write;

/// The maximum number of entries in a transaction.
pub const AT_ONCE: usize = 25;
/// The maximum size of the entries in one transaction, in bytes; DynamoDB permits 4 MB.
const MAX_BYTES: usize = 3_000_000;

const _: () = assert!(AT_ONCE + delivery::COUNT_SHARDS as usize <= MAX_WRITES);

/// A transition, after the attempt to write its bodies, with the write of its entry.
struct Ready {
    moved: OutboxMove,
    entry: Write,
}

/// Divides the transitions into parts that each fit into a transaction.
pub fn parts(moves: Vec<OutboxMove>) -> Vec<Vec<OutboxMove>> {
    let (mut parts, mut bytes) = (Vec::<Vec<OutboxMove>>::new(), 0);
    for one in moves {
        let size = one.next.bytes();
        match parts.last_mut().filter(|part| part.len() < AT_ONCE && bytes + size <= MAX_BYTES) {
            Some(part) => {
                bytes += size;
                part.push(one);
            }
            None => {
                bytes = size;
                parts.push(vec![one]);
            }
        }
    }
    parts
}

impl Store {
    /// Writes one of the [`parts`] and returns the entries in their new states, except those that
    /// had changed since they were read.
    pub async fn move_outbox_entries(&self, moves: Vec<OutboxMove>) -> Result<Vec<OutboxRow>, Error> {
        let mut ready: Vec<Ready> = try_join_all(moves.into_iter().map(|moved| self.ready(moved))).await?.into_iter().flatten().collect();
        loop {
            match self.try_move(&ready).await {
                Ok(()) => return Ok(ready.into_iter().map(|ready| ready.moved.made()).collect()),
                Err(Error::Conflict(conflict)) => {
                    let before = ready.len();
                    let numbered = ready.into_iter().enumerate();
                    ready = numbered.filter(|(number, _)| !conflict.is_of(Label::Entry(*number))).map(|(_, ready)| ready).collect();
                    if ready.len() == before {
                        return Err(Error::Refused("a delivery counter could not be incremented".to_owned()));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Changes the bodies of an email. If that fails, the entry is left as it is, unless the email
    /// has ended: its outcome must not be lost.
    async fn ready(&self, moved: OutboxMove) -> Result<Option<Ready>, Error> {
        let Replacement { entry, body } = replacement(&moved.row, &moved.next)?;
        let is_written = self.write_body(body).await.inspect_err(|error| {
            tracing::warn!(%error, id = %moved.next.id, "the bodies of an email could not be written");
        });
        Ok((is_written.is_ok() || moved.next.ended_at().is_some()).then_some(Ready { moved, entry }))
    }

    async fn try_move(&self, ready: &[Ready]) -> Result<(), Error> {
        let entries = ready.iter().enumerate().map(|(number, ready)| ready.entry.clone().labelled(Label::Entry(number)));
        let mut writes: Vec<Write> = entries.chain(counts_of(ready.iter().map(|ready| &ready.moved))).collect();
        match writes.len() {
            0 => Ok(()),
            1 => self.write(writes.remove(0)).await,
            _ => self.transact(writes).await,
        }
    }
}
