//! What the checks found.

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
