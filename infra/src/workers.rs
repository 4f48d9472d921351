//! The functions that are not operations, with their properties for the template.

use api::http::{Need, Needs, TableAction};
use registry::fallback;

/// A function that does not serve an operation.
#[derive(Debug, Clone, Copy)]
pub struct Worker {
    /// The name of the binary and of the Lambda, in the form `<area>-<rest>`. Its events are
    /// `events/<area>/<rest>*.json`.
    pub name: &'static str,
    pub table: &'static [TableAction],
    pub mail: &'static [MailAction],
    /// The needs of the function in addition to the resources that all functions have.
    pub needs: Needs,
    /// The memory in MB.
    pub memory: u16,
    /// The timeout in seconds.
    pub timeout: u16,
}

/// An IAM action of SES, named without its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MailAction {
    SendEmail,
}

/// The actions that a worker needs to read, query, write and delete items.
const READS_AND_WRITES: &[TableAction] = &[
    TableAction::BatchGetItem,
    TableAction::DeleteItem,
    TableAction::GetItem,
    TableAction::PutItem,
    TableAction::Query,
    TableAction::UpdateItem,
];

/// Responds to requests that match no operation.
pub const FALLBACK: Worker =
    Worker { name: fallback::NAME, table: &[], mail: &[], needs: Needs::NONE.with(Need::Console), memory: 256, timeout: 10 };

/// Sends emails: finds due work through an index, and performs each step with a conditional write.
pub const OUTBOX: Worker = Worker {
    name: "workers-outbox",
    table: READS_AND_WRITES,
    mail: &[MailAction::SendEmail],
    // The passwords of mail servers are sealed with a key that is derived from the deployment
    // secret.
    needs: Needs::NONE.with(Need::Secret),
    memory: 512,
    timeout: 120,
};

/// Records webhook events, and starts the functions that send emails and deliver events. The
/// table's stream invokes it.
pub const CHANGES: Worker =
    Worker { name: "workers-changes", table: READS_AND_WRITES, mail: &[], needs: Needs::NONE, memory: 512, timeout: 60 };

/// Records the reports of SES about emails.
pub const MAIL_REPORTS: Worker = Worker {
    name: "workers-mail-reports",
    table: &[TableAction::GetItem, TableAction::UpdateItem],
    mail: &[],
    needs: Needs::NONE,
    memory: 256,
    timeout: 10,
};

/// Completes deletions that take longer than the requests that began them.
pub const ENDINGS: Worker =
    Worker { name: "workers-endings", table: READS_AND_WRITES, mail: &[], needs: Needs::NONE, memory: 256, timeout: 120 };

/// Links new entries into the chains of audit trails, and counts the entries in the metrics of
/// projects. The table's stream invokes this worker.
pub const TRAIL: Worker = Worker {
    name: "workers-trail",
    table: &[
        TableAction::BatchGetItem,
        // Indexes users from earlier versions unless they have changed, and deletes index words
        // that earlier versions wrote differently.
        TableAction::ConditionCheckItem,
        TableAction::DeleteItem,
        TableAction::GetItem,
        TableAction::PutItem,
        TableAction::Query,
        TableAction::UpdateItem,
    ],
    mail: &[],
    // Links are authenticated with a key that is derived from the deployment secret.
    needs: Needs::NONE.with(Need::Secret),
    memory: 256,
    timeout: 60,
};

/// Delivers webhook events. The worker is started when events have been recorded, and by a schedule
/// every minute.
pub const WEBHOOKS: Worker = Worker {
    name: "workers-webhooks",
    table: READS_AND_WRITES,
    mail: &[],
    // The secrets that sign events are sealed with a key that is derived from the deployment
    // secret.
    needs: Needs::NONE.with(Need::Secret),
    memory: 256,
    timeout: 120,
};

pub const ALL: [Worker; 7] = [FALLBACK, OUTBOX, CHANGES, MAIL_REPORTS, ENDINGS, TRAIL, WEBHOOKS];
