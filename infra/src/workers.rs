//! The functions without a route of their own: what the template has to know of them.

use edge_functions::fallback;
use shared::http::TableAction;

/// A function that no operation stands for.
#[derive(Debug, Clone, Copy)]
pub struct Worker {
    /// Name of the binary and the Lambda; events are `events/<area>/<rest>*.json`.
    pub name: &'static str,
    pub table: &'static [TableAction],
    /// In MB.
    pub memory: u16,
    /// In seconds.
    pub timeout: u16,
}

/// What answers when no operation does.
pub const FALLBACK: Worker = Worker { name: fallback::NAME, table: &[], memory: 256, timeout: 10 };

/// The sender of mails: finds due work by an index, and writes each step under a condition.
pub const OUTBOX: Worker = Worker {
    name: "workers-outbox",
    table: &[TableAction::GetItem, TableAction::Query, TableAction::UpdateItem],
    memory: 512,
    timeout: 60,
};

pub const ALL: [Worker; 2] = [FALLBACK, OUTBOX];
