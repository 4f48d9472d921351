//! A transition of an outbox entry.

use model::outbox::OutboxEntry;

use crate::outbox::OutboxRow;

/// An entry as it was read, with its next state.
#[derive(Debug, Clone)]
pub struct OutboxMove {
    /// The entry as it was read.
    pub row: OutboxRow,
    /// The next state of the entry.
    pub next: OutboxEntry,
}

impl OutboxMove {
    pub(crate) fn made(self) -> OutboxRow {
        OutboxRow { project: self.row.project, entry: self.next.parted().0, version: self.row.version + 1 }
    }
}
