//! Functions other than operations, with their properties for the template.

use api::http::{Need, Needs, TableAction};
use registry::fallback;

/// A function that does not serve an operation.
#[derive(Debug, Clone, Copy)]
pub struct Worker {
    /// The name of the binary and of the Lambda, `<area>-<rest>`. Its events are
    /// `events/<area>/<rest>*.json`.
    pub name: &'static str,
    pub table: &'static [TableAction],
    pub mail: &'static [MailAction],
    /// What the function needs beyond the common resources.
    pub needs: Needs,
    /// The memory in MB.
    pub memory: u16,
    /// The timeout in seconds.
    pub timeout: u16,
}

/// An IAM action of SES, without its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailAction {
    SendEmail,
}

/// The actions of a worker that reads, queries, writes and deletes items.
const READS_AND_WRITES: &[TableAction] = &[
    TableAction::BatchGetItem,
    TableAction::DeleteItem,
    TableAction::GetItem,
    TableAction::PutItem,
    TableAction::Query,
    TableAction::UpdateItem,
];

/// Answers requests that match no operation.
pub const FALLBACK: Worker =
    Worker { name: fallback::NAME, table: &[], mail: &[], needs: Needs::NONE.with(Need::Console), memory: 256, timeout: 10 };

/// Sends emails: finds due work through an index, and makes each step with a conditional write.
pub const OUTBOX: Worker = Worker {
    name: "workers-outbox",
    table: READS_AND_WRITES,
    mail: &[MailAction::SendEmail],
    // The passwords of mail servers are sealed with a key derived from the deployment secret.
    needs: Needs::NONE.with(Need::Secret),
    memory: 512,
    timeout: 120,
};

/// Records webhook events, and starts the functions that send emails and deliver events; invoked by
/// the table's stream.
pub const CHANGES: Worker =
    Worker { name: "workers-changes", table: READS_AND_WRITES, mail: &[], needs: Needs::NONE, memory: 512, timeout: 60 };

/// Records SES's reports about emails.
pub const MAIL_REPORTS: Worker = Worker {
    name: "workers-mail-reports",
    table: &[TableAction::GetItem, TableAction::UpdateItem],
    mail: &[],
    needs: Needs::NONE,
    memory: 256,
    timeout: 10,
};

/// Finishes deletions that outlast the requests that began them.
pub const ENDINGS: Worker =
    Worker { name: "workers-endings", table: READS_AND_WRITES, mail: &[], needs: Needs::NONE, memory: 256, timeout: 120 };

/// Links new entries into the chains of audit trails, and counts them in the projects' figures;
/// invoked by the table's stream.
pub const TRAIL: Worker = Worker {
    name: "workers-trail",
    table: &[
        TableAction::BatchGetItem,
        // Indexes users from earlier versions, provided that they have not changed, and deletes
        // index words that earlier versions wrote differently.
        TableAction::ConditionCheckItem,
        TableAction::DeleteItem,
        TableAction::GetItem,
        TableAction::PutItem,
        TableAction::Query,
        TableAction::UpdateItem,
    ],
    mail: &[],
    // Links are authenticated with a key derived from the secret.
    needs: Needs::NONE.with(Need::Secret),
    memory: 256,
    timeout: 60,
};

/// Delivers webhook events; started when events are recorded, and every minute.
pub const WEBHOOKS: Worker = Worker {
    name: "workers-webhooks",
    table: READS_AND_WRITES,
    mail: &[],
    // The secrets that sign events are sealed with a key derived from the deployment secret.
    needs: Needs::NONE.with(Need::Secret),
    memory: 256,
    timeout: 120,
};

pub const ALL: [Worker; 7] = [FALLBACK, OUTBOX, CHANGES, MAIL_REPORTS, ENDINGS, TRAIL, WEBHOOKS];
