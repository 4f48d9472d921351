//! The functions without a route of their own: what the template has to know of them.

use api::http::TableAction;
use edge_functions::fallback;

/// A function that no operation stands for.
#[derive(Debug, Clone, Copy)]
pub struct Worker {
    /// Name of the binary and the Lambda; events are `events/<area>/<rest>*.json`.
    pub name: &'static str,
    pub table: &'static [TableAction],
    pub mail: &'static [MailAction],
    /// Whether it signs, verifies, seals or opens anything.
    pub uses_secret: bool,
    /// In MB.
    pub memory: u16,
    /// In seconds.
    pub timeout: u16,
}

/// An IAM action of SES, without its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailAction {
    SendEmail,
}

/// What answers when no operation does.
pub const FALLBACK: Worker = Worker { name: fallback::NAME, table: &[], mail: &[], uses_secret: false, memory: 256, timeout: 10 };

/// The sender of mails: finds due work by an index, and writes each step under a condition.
pub const OUTBOX: Worker = Worker {
    name: "workers-outbox",
    table: &[
        TableAction::BatchGetItem,
        TableAction::DeleteItem,
        TableAction::GetItem,
        TableAction::PutItem,
        TableAction::Query,
        TableAction::UpdateItem,
    ],
    mail: &[MailAction::SendEmail],
    // Passwords of mail servers are sealed.
    uses_secret: true,
    memory: 512,
    timeout: 120,
};

/// What takes the reports of SES on mails that it has taken.
pub const MAIL_REPORTS: Worker = Worker {
    name: "workers-mail-reports",
    table: &[TableAction::GetItem, TableAction::UpdateItem],
    mail: &[],
    uses_secret: false,
    memory: 256,
    timeout: 10,
};

/// What ends deletions that took longer than the request that began them.
pub const ENDINGS: Worker = Worker {
    name: "workers-endings",
    table: &[TableAction::DeleteItem, TableAction::GetItem, TableAction::PutItem, TableAction::Query, TableAction::UpdateItem],
    mail: &[],
    uses_secret: false,
    memory: 256,
    timeout: 120,
};

/// What links the entries of trails, by the table's stream.
pub const TRAIL: Worker = Worker {
    name: "workers-trail",
    table: &[TableAction::GetItem, TableAction::PutItem, TableAction::Query],
    mail: &[],
    // Links are authenticated.
    uses_secret: true,
    memory: 256,
    timeout: 60,
};

pub const ALL: [Worker; 5] = [FALLBACK, OUTBOX, MAIL_REPORTS, ENDINGS, TRAIL];
