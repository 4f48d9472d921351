//! Whose turn it is to drain the outbox, among the workers that the table's stream wakes: one at a
//! time, however many batches of the stream contain work.
//!
//! | item | pk | sk | attributes |
//! |---|---|---|---|
//! | turn | `OUTBOX` | `TURN` | `lasts_until` in milliseconds; `again` if work came in since the turn began |
//!
//! A worker that does not get the turn notes in it that work came in. A turn with such a note
//! cannot end: its worker looks for work again. So no work is overlooked, unless a turn passes
//! without having been ended; such work is found by the worker that the schedule starts, which
//! needs no turn. Each write costs one unit.

use jiff::Timestamp;

use crate::table::{Error, Key, Store, Write, integer};

/// How often a worker tries to get the turn or to leave a note in it, while others do the same.
const ROUNDS: usize = 5;

fn key() -> Key {
    Key::new("OUTBOX", "TURN")
}

/// Whether a conditional write was made.
fn is_made(result: Result<(), Error>) -> Result<bool, Error> {
    match result {
        Ok(()) => Ok(true),
        Err(Error::Conflict(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

impl Store {
    /// Gets the turn, which lasts until it is ended, but at most until `until`; `false` if another
    /// worker has it, who then looks for work once more.
    pub async fn begin_outbox_turn(&self, now: Timestamp, until: Timestamp) -> Result<bool, Error> {
        let now = integer(now.as_millisecond());
        for _ in 0..ROUNDS {
            let begin = Write::update(key(), "SET lasts_until = :until REMOVE again").value(":until", integer(until.as_millisecond()));
            let begin = begin.on("attribute_not_exists(pk) OR lasts_until <= :now").value(":now", now.clone());
            if is_made(self.write_unrecorded(begin).await)? {
                return Ok(true);
            }
            let note = Write::update(key(), "SET again = :yes").value(":yes", integer(1));
            if is_made(self.write_unrecorded(note.on("lasts_until > :now").value(":now", now.clone())).await)? {
                return Ok(false);
            }
        }
        // Others are getting and ending turns all the time; one more worker does no harm.
        Ok(true)
    }

    /// Ends the turn that lasts until `until`, or removes the note that work came in, and returns
    /// `false`. Returns `true` if the turn has passed, too.
    pub async fn end_outbox_turn(&self, until: Timestamp) -> Result<bool, Error> {
        let until = integer(until.as_millisecond());
        let end = Write::delete(key()).on("lasts_until = :until AND attribute_not_exists(again)").value(":until", until.clone());
        if is_made(self.write_unrecorded(end).await)? {
            return Ok(true);
        }
        let remove = Write::update(key(), "REMOVE again").on("lasts_until = :until").value(":until", until);
        Ok(!is_made(self.write_unrecorded(remove).await)?)
    }
}
