//! A mail service's report on an attempt to send an email.

use jiff::Timestamp;
use wire::clock::Millis;

use crate::outbox::reports::Reports;
use crate::outbox::status::{Move, ReportKind};
use crate::outbox::{OutboxEntry, Stage};

/// A report on one attempt to send an entry's email.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The attempt, identified by the start of sending in milliseconds since the Unix epoch. Only
    /// reports on the last attempt count.
    pub attempt: Millis,
    /// The kind of event.
    pub kind: ReportKind,
    /// When the event happened, in milliseconds since the Unix epoch.
    pub at: Millis,
}

impl OutboxEntry {
    /// The entry with a report applied; `None` if the report is about another attempt or does not
    /// add anything new, or if the entry's status does not permit reports.
    pub fn report(mut self, report: Report, now: Timestamp) -> Option<Self> {
        if !self.status().allows(Move::Report(report.kind)) {
            return None;
        }
        let (started_at, at, known) = match self.stage {
            Stage::Sending { started_at, .. } | Stage::ServerError { started_at, .. } => (started_at, report.at, None),
            Stage::Sent { started_at, at, reports, is_reported_on } => (started_at, at, Some((reports, is_reported_on))),
            _ => return None,
        };
        let mut reports = known.map_or_else(Reports::default, |(reports, _)| reports);
        reports.note(report.kind, report.at);
        if started_at != report.attempt || known == Some((reports, true)) {
            return None;
        }
        self.stage = Stage::Sent { started_at, at, reports, is_reported_on: true };
        self.updated_at = now;
        Some(self)
    }
}
