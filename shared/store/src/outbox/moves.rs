//! Moves of entries of the outbox: one, or many together.
//!
//! Each entry is replaced under the condition of the version that was read, so that of an edit and a worker one wins, entry by entry. Many
//! go in one transaction, which costs one round trip and one flush of a disk instead of one each; where others were faster, it is made
//! again without the entries that they changed. What became of the mails is counted in the same transaction ([`crate::outbox::delivery`]), once
//! for all of a minute: two units for each KB of the entries and for each counter. The end of a mail also puts its bodies apart, two units
//! for each KB of them. One entry of which nothing is counted, and whose bodies stay, costs half.

use crate::client::{MAX_WRITES, Store};
use crate::error::Error;
use crate::label::Label;
use crate::outbox::delivery::{self, counts_of};
use crate::outbox::transition::OutboxMove;
use crate::outbox::{OutboxRow, replacement};
use crate::write::Write;

/// How many entries are moved together at most: no more than a worker can do something with at once.
pub const AT_ONCE: usize = 25;
/// Bytes of the entries of one transaction, of which DynamoDB takes 4 MB.
const MAX_BYTES: usize = 3_000_000;

const _: () = assert!(AT_ONCE * 2 + delivery::COUNT_SHARDS as usize <= MAX_WRITES);

/// Moves in the parts in which they can be made.
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
    /// Makes one of [`parts`], and gives the entries as they are then: without those that somebody changed since they were read.
    pub async fn move_outbox_entries(&self, mut moves: Vec<OutboxMove>) -> Result<Vec<OutboxRow>, Error> {
        loop {
            match self.try_move(&moves).await {
                Ok(()) => return Ok(moves.into_iter().map(OutboxMove::made).collect()),
                Err(Error::Conflict(conflict)) => {
                    let before = moves.len();
                    let numbered = moves.into_iter().enumerate();
                    moves = numbered.filter(|(number, _)| !conflict.is_of(Label::Entry(*number))).map(|(_, one)| one).collect();
                    if moves.len() == before {
                        return Err(Error::Refused("a counter of mails refused to count".to_owned()));
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
