//! Whether a deployment is as it should be: each check says what it found in one line, and what to do where that is not fine.
//!
//! What the template makes is looked at from outside, with the rights of an operator, because a table may be a restored one, a sender's
//! identity is verified by hand, and a stack that was deployed may still not answer.

mod functions;
mod mail;
mod table;

use std::fmt::Display;
use std::io::{self, Write};

use crypto::deployment_secret::DeploymentSecret;
use store::Store;
use wire::environment;

use crate::aws::Aws;

/// What is examined. What is not given is not examined, and the report says so.
pub struct Deployment {
    pub aws: Aws,
    pub store: Store,
    pub secret: Option<Result<DeploymentSecret, environment::Error>>,
    /// Without a trailing slash.
    pub api_url: Option<String>,
    /// An address or a domain.
    pub sender: Option<String>,
    pub configuration_set: Option<String>,
}

/// The lines of a report.
pub struct Report<W> {
    out: W,
    failures: usize,
}

impl<W: Write> Report<W> {
    pub fn new(out: W) -> Self {
        Self { out, failures: 0 }
    }

    /// How many checks failed.
    pub fn failures(&self) -> usize {
        self.failures
    }

    fn line(&mut self, level: &str, subject: &str, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{level:<5} {subject:<12} {text}")
    }

    /// It is as it should be.
    pub(crate) fn ok(&mut self, subject: &str, text: impl Display) -> io::Result<()> {
        self.line("ok", subject, text)
    }

    /// The service works, but not as well, or not as safely, as it should; or nobody knows.
    pub(crate) fn warn(&mut self, subject: &str, text: impl Display) -> io::Result<()> {
        self.line("warn", subject, text)
    }

    /// The service does not work.
    pub(crate) fn fail(&mut self, subject: &str, text: impl Display) -> io::Result<()> {
        self.failures += 1;
        self.line("fail", subject, text)
    }
}

/// Runs every check.
pub async fn examine(deployment: &Deployment, report: &mut Report<impl Write>) -> io::Result<()> {
    if table::examine(&deployment.store, report).await? {
        table::examine_content(&deployment.store, report).await?;
    }
    functions::examine_secret(deployment, report).await?;
    functions::examine(deployment.api_url.as_deref(), report).await?;
    mail::examine(deployment, report).await
}

/// An error with its causes, as an operator needs it.
pub(crate) fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}
