//! An entry as it was read, and what it becomes.

use model::outbox::OutboxEntry;

use crate::outbox::OutboxRow;

/// An entry as it was read, and what it becomes.
#[derive(Debug, Clone)]
pub struct OutboxMove {
    pub row: OutboxRow,
    pub next: OutboxEntry,
}

impl OutboxMove {
    pub(crate) fn made(self) -> OutboxRow {
        OutboxRow { project: self.row.project, entry: self.next.parted().0, version: self.row.version + 1 }
    }
}
