//! Transitions of outbox entries, written one by one or together.
//!
//! Each entry is replaced on the condition that it still has the version that was read, so when an
//! edit and a worker collide over an entry, only one of them succeeds. Many transitions share a
//! transaction, which takes one round trip instead of one for each transition; entries that have
//! changed since they were read are left out and the transaction is tried again. The outcomes are
//! counted in the same transaction ([`crate::outbox::delivery`]). A transaction costs two units for
//! each KB of the entries, of the counters and of bodies that are stored separately. Writing a
//! single entry without counts or bodies costs half as much.

use crate::client::{MAX_WRITES, Store};
use crate::error::Error;
use crate::label::Label;
use crate::outbox::delivery::{self, counts_of};
use crate::outbox::transition::OutboxMove;
use crate::outbox::{OutboxRow, replacement};
use crate::write::Write;

/// The maximum number of entries in a transaction; each may take a second write, for its bodies.
pub const AT_ONCE: usize = 25;
/// The maximum size of the entries in one transaction, in bytes; DynamoDB permits 4 MB.
const MAX_BYTES: usize = 3_000_000;

const _: () = assert!(AT_ONCE * 2 + delivery::COUNT_SHARDS as usize <= MAX_WRITES);

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
    pub async fn move_outbox_entries(&self, mut moves: Vec<OutboxMove>) -> Result<Vec<OutboxRow>, Error> {
        loop {
            match self.try_move(&moves).await {
                Ok(()) => return Ok(moves.into_iter().map(OutboxMove::made).collect()),
                Err(Error::Conflict(conflict)) => {
                    let before = moves.len();
                    let numbered = moves.into_iter().enumerate();
                    moves = numbered.filter(|(number, _)| !conflict.is_of(Label::Entry(*number))).map(|(_, one)| one).collect();
                    if moves.len() == before {
                        return Err(Error::Refused("a delivery counter could not be incremented".to_owned()));
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn try_move(&self, moves: &[OutboxMove]) -> Result<(), Error> {
        let replacements = moves.iter().map(|one| replacement(&one.row, &one.next)).collect::<Result<Vec<_>, Error>>()?;
        let numbered = replacements.into_iter().enumerate();
        let (mut writes, bodies): (Vec<Write>, Vec<Option<Write>>) =
            numbered.map(|(number, one)| (one.entry.labelled(Label::Entry(number)), one.body)).unzip();
        writes.extend(bodies.into_iter().flatten().chain(counts_of(moves)));
        match writes.len() {
            0 => Ok(()),
            1 => self.write(writes.remove(0)).await,
            _ => self.transact(writes).await,
        }
    }
}
