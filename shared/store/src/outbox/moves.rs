//! Writes transitions of outbox entries, either one by one or together.
//!
//! Each entry is replaced on the condition that its version has not changed, so if an edit and a
//! worker collide, only one of them succeeds. Many transitions share a transaction, and thus one
//! round trip. If entries have changed since they were read, the transaction is retried without
//! these entries. The same transaction counts the outcomes ([`crate::outbox::delivery`]). The
//! transaction costs two units for each KB of the entries and counters; writing a single entry
//! without counts costs half as much. Bodies are written before the transaction, each in a separate
//! request.

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};

use crate::outbox::OutboxRow;
use crate::outbox::change::replaced;
use crate::outbox::delivery::{self, counts_of};
use crate::outbox::transition::OutboxMove;
use crate::table::{Error, Label, MAX_WRITES, Store};

/// The maximum number of entries in a transaction.
pub const AT_ONCE: usize = 25;
/// The maximum size of the entries in one transaction, in bytes; DynamoDB permits 4 MB.
const MAX_BYTES: usize = 3_000_000;

const _: () = assert!(AT_ONCE + delivery::COUNT_SHARDS as usize <= MAX_WRITES);

/// Divides the transitions into parts that fit into a transaction.
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
    /// Writes one of the [`parts`]. Returns the entries in their new states, except for entries
    /// that have changed since they were read.
    pub async fn move_outbox_entries(&self, moves: Vec<OutboxMove>) -> Result<Vec<OutboxRow>, Error> {
        // This is the same type as that of the futures that send emails, which makes the function
        // that sends emails 2.3 KB smaller (zipped; `tests/lambda/run build`).
        let mut written: FuturesUnordered<BoxFuture<'_, Option<OutboxMove>>> =
            moves.into_iter().map(|one| self.ready(one).boxed()).collect();
        let mut moves = Vec::with_capacity(written.len());
        while let Some(one) = written.next().await {
            moves.extend(one);
        }
        loop {
            match self.try_move(&moves).await {
                Ok(()) => return Ok(moves.into_iter().map(OutboxMove::made).collect()),
                Err(Error::Conflict(conflict)) => {
                    let before = moves.len();
                    let mut numbers = 0..;
                    moves.retain(|_| numbers.next().is_some_and(|number| !conflict.is_of(Label::Entry(number))));
                    if moves.len() == before {
                        return Err(Error::Refused("a delivery counter could not be incremented".to_owned()));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Changes the bodies of an email. If changing the bodies fails, returns `None` to leave the
    /// entry as it is, unless the email was sent, skipped or given up: this outcome must not be
    /// lost.
    async fn ready(&self, one: OutboxMove) -> Option<OutboxMove> {
        let is_written = self.write_bodies(&one).await.is_ok();
        (is_written || one.next.ended_at().is_some()).then_some(one)
    }

    async fn try_move(&self, moves: &[OutboxMove]) -> Result<(), Error> {
        let mut writes = counts_of(moves);
        for (number, one) in moves.iter().enumerate() {
            writes.push(replaced(one)?.labelled(Label::Entry(number)));
        }
        match writes.len() {
            0 => Ok(()),
            1 => self.write(writes.remove(0)).await,
            _ => self.transact(writes).await,
        }
    }
}
