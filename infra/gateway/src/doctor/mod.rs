//! Checks a deployment, and prints a line for each result.
//!
//! The checks run from outside with an operator's rights, and cover everything that deploying does
//! not guarantee. For example, a table may have been restored from a backup without its settings,
//! senders are verified by hand, and even a deployed stack may not respond.

mod deployment;
mod functions;
mod mail;
mod providers;
mod report;
mod table;

use std::io::{self, Write};

pub use deployment::Deployment;
pub use report::Report;

/// Runs the checks. The table's data is checked only if the table can be described.
pub async fn examine(deployment: &Deployment, report: &mut Report<impl Write>) -> io::Result<()> {
    if table::examine(&deployment.store, report).await? {
        table::examine_content(&deployment.store, report).await?;
        providers::examine(deployment, report).await?;
    }
    functions::examine_secret(deployment, report).await?;
    functions::examine(deployment.api_url.as_deref(), report).await?;
    mail::examine(deployment, report).await
}
