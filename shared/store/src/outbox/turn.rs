//! The turn to drain the outbox. Of the workers woken by the table's stream, only one at a time
//! drains the outbox, no matter how many batches of the stream contain work.
//!
//! | item | pk | sk | attributes |
//! |---|---|---|---|
//! | turn | `OUTBOX` | `TURN` | `lasts_until` in milliseconds; `again` if work has arrived since the turn began |
//!
//! A worker that cannot take the turn leaves a note in it, which says that work has arrived. A turn
//! with a note cannot end; the worker that has the turn looks for work again. Work is therefore
//! overlooked only when a turn times out. The scheduled worker, which does not need a turn, then
//! finds this work. Each write costs one unit.

use jiff::Timestamp;

use crate::table::{Error, Key, Store, Write, integer, is_made};

/// The maximum number of attempts to take the turn or leave a note while other workers do the same.
const MAX_ATTEMPTS: usize = 5;

fn key() -> Key {
    Key::new("OUTBOX", "TURN")
}

impl Store {
    /// Takes the turn until it is ended, or until `until` at the latest; `false` if another worker
    /// has the turn and will look for work again.
    pub async fn begin_outbox_turn(&self, now: Timestamp, until: Timestamp) -> Result<bool, Error> {
        let now = integer(now.as_millisecond());
        for _ in 0..MAX_ATTEMPTS {
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
        // Other workers took and ended turns during every attempt. An additional worker does no
        // harm.
        Ok(true)
    }

    /// Ends the turn that lasts until `until`; `true` if ending it succeeded or the turn had
    /// already timed out. If the turn has a note that work has arrived, removes the note instead of
    /// ending the turn, and returns `false`.
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
