//! Whether a deployment is as it should be: each check says what it found in one line, and what to do where that is not fine.
//!
//! What the template makes is looked at from outside, with the rights of an operator, because a table may be a restored one, a sender's
//! identity is verified by hand, and a stack that was deployed may still not answer.

mod deployment;
mod functions;
mod mail;
mod report;
mod table;

use std::io::{self, Write};

pub use deployment::Deployment;
pub use report::Report;

/// Runs every check.
pub async fn examine(deployment: &Deployment, report: &mut Report<impl Write>) -> io::Result<()> {
    if table::examine(&deployment.store, report).await? {
        table::examine_content(&deployment.store, report).await?;
    }
    functions::examine_secret(deployment, report).await?;
    functions::examine(deployment.api_url.as_deref(), report).await?;
    mail::examine(deployment, report).await
}
