//! A transition of an outbox entry.

use model::outbox::OutboxEntry;
use model::outbox::body::BodyChange;

use crate::outbox::OutboxRow;

/// An entry that was read, with its next state.
#[derive(Debug, Clone)]
pub struct OutboxMove {
    /// The entry as read.
    pub row: OutboxRow,
    /// The next state of the entry, without its bodies.
    pub next: OutboxEntry,
    /// The change to the item that contains the bodies, if any.
    pub(crate) bodies: Option<BodyChange>,
}

impl OutboxMove {
    /// The transition of an entry to `next`.
    pub fn new(row: OutboxRow, next: OutboxEntry) -> Self {
        let (next, change) = next.parted();
        let bodies = change.or_else(|| row.entry.discarded_bodies(&next));
        Self { row, next, bodies }
    }

    /// The entry after the transition.
    pub(crate) fn made(self) -> OutboxRow {
        OutboxRow { project: self.row.project, entry: self.next, version: self.row.version + 1 }
    }
}
