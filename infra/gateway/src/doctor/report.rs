//! The results of the checks.

use std::fmt::Display;
use std::io::{self, Write};

/// The lines of a report.
pub struct Report<W> {
    out: W,
    failures: usize,
}

impl<W: Write> Report<W> {
    pub fn new(out: W) -> Self {
        Self { out, failures: 0 }
    }

    /// The number of failed checks.
    pub fn failures(&self) -> usize {
        self.failures
    }

    fn line(&mut self, level: &str, subject: &str, text: impl Display) -> io::Result<()> {
        writeln!(self.out, "{level:<5} {subject:<12} {text}")
    }

    /// Reports that a check found no problem.
    pub(crate) fn ok(&mut self, subject: &str, text: impl Display) -> io::Result<()> {
        self.line("ok", subject, text)
    }

    /// Reports that the service works, but not as well or as safely as it should, or that its state
    /// is unknown.
    pub(crate) fn warn(&mut self, subject: &str, text: impl Display) -> io::Result<()> {
        self.line("warn", subject, text)
    }

    /// Reports that the service does not work, or that the data of the check cannot be read.
    pub(crate) fn fail(&mut self, subject: &str, text: impl Display) -> io::Result<()> {
        self.failures += 1;
        self.line("fail", subject, text)
    }
}
