//! What a mail service reports of a mail that it has taken: bounces, complaints, openings.
//!
//! Reports come late, in any order and more than once. So an entry keeps the earliest time of each kind, which is the same whatever the
//! order, and its state is read off them: the first of marked as spam, clicked, opened, bounced, delivered and delayed that is there.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::outbox::{Millis, OutboxEntry, Stage, Status};
use super::outbox_status::{Move, ReportKind};

/// One report on one attempt to send an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The attempt: when sending began, in milliseconds since the epoch. A report on another attempt than the last is of the past.
    pub attempt: Millis,
    pub kind: ReportKind,
    pub at: Millis,
}

/// When what was reported, the earliest of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reports {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delayed_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivered_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounced_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clicked_at: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub marked_as_spam_at: Option<Millis>,
}

impl Reports {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The state that the reports make of a mail that was sent.
    pub fn status(&self) -> Status {
        match self {
            Self { marked_as_spam_at: Some(_), .. } => Status::MarkedAsSpam,
            Self { clicked_at: Some(_), .. } => Status::Clicked,
            Self { opened_at: Some(_), .. } => Status::Opened,
            Self { bounced_at: Some(_), .. } => Status::Bounced,
            Self { delivered_at: Some(_), .. } => Status::Sent,
            Self { delayed_at: Some(_), .. } => Status::DeliveryDelayed,
            _ => Status::Sent,
        }
    }

    fn note(&mut self, kind: ReportKind, at: Millis) {
        let place = match kind {
            ReportKind::Accepted => return,
            ReportKind::Delayed => &mut self.delayed_at,
            ReportKind::Delivered => &mut self.delivered_at,
            ReportKind::Bounced => &mut self.bounced_at,
            ReportKind::Opened => &mut self.opened_at,
            ReportKind::Clicked => &mut self.clicked_at,
            ReportKind::MarkedAsSpam => &mut self.marked_as_spam_at,
        };
        *place = Some(place.map_or(at, |earlier| earlier.min(at)));
    }
}

impl OutboxEntry {
    /// What the entry becomes by a report; `None` when the report is of another attempt, or tells nothing new.
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
