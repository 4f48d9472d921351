//! The fifteen statuses of an outbox entry and all transitions between them.
//!
//! [`TRANSITIONS`] is authoritative: a move is refused unless the table lists it for the entry's
//! status. Random walks in the tests fail if a move leads to a status that the table does not list.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// The status of an entry on the wire. Entries can be edited in the first seven statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Status {
    /// Workers skip the entry until it is resumed.
    Paused,
    /// The entry waits to be rendered.
    Preparing,
    /// A worker is rendering the entry.
    Rendering,
    /// Rendering failed; see [`Stage::RenderError`](crate::outbox::Stage::RenderError).
    RenderError,
    /// The entry is rendered and waits for its scheduled time or the next attempt to send.
    Scheduled,
    /// The entry waits to be sent.
    Queued,
    /// Sending failed permanently or in all permitted attempts, or its outcome is unknown.
    ServerError,
    /// A worker is sending the email.
    Sending,
    /// The email is not sent, for the reason given as
    /// [`SkippedReason`](crate::outbox::stage::SkippedReason).
    Skipped,
    /// The email was sent and then permanently refused.
    Bounced,
    /// The email was sent, and its delivery is delayed.
    DeliveryDelayed,
    /// The mail service accepted the email.
    Sent,
    /// The recipient opened the email.
    Opened,
    /// The recipient followed a link in the email.
    Clicked,
    /// The recipient reported the email as spam.
    MarkedAsSpam,
}

/// A summary of the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SimpleStatus {
    /// The status will still change without a caller's action, or the entry is paused.
    InProgress,
    /// The email could not be rendered or sent, may or may not have been sent, or bounced.
    Error,
    /// The email was skipped, or was sent and has not bounced.
    Ok,
}

use Status::{
    Bounced, Clicked, DeliveryDelayed, MarkedAsSpam, Opened, Paused, Preparing, Queued, RenderError, Rendering, Scheduled, Sending, Sent,
    ServerError, Skipped,
};

/// An event that may change the status of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// A worker starts rendering, or takes over from a worker whose lease has expired.
    BeginRendering,
    /// The worker has rendered the entry.
    FinishRendering,
    /// Rendering fails; see [`Stage::RenderError`](crate::outbox::Stage::RenderError).
    FailRendering,
    /// The scheduled time, or the time of the next attempt, has been reached.
    Enqueue,
    /// A worker starts sending; edits are refused until the attempt ends.
    BeginSending,
    /// The mail service accepted the email.
    FinishSending,
    /// A worker that is about to send finds that there is no recipient, or that the user has
    /// unsubscribed or no longer exists.
    Skip,
    /// The code in the email has expired.
    Expire,
    /// Another notice to the same recipient covers this notice.
    Fold,
    /// An attempt to send failed, but another attempt may follow.
    Retry,
    /// An attempt to send failed permanently, was the last one, or has an unknown outcome.
    Fail,
    /// The entry is taken back from a worker that is known to have stopped without sending the
    /// email.
    TakeBack,
    /// A caller edits, reschedules, pauses or resumes the entry, or sends an empty patch.
    Patch,
    /// A caller cancels the entry.
    Cancel,
    /// The mail service reports an event.
    Report(ReportKind),
}

/// The kinds of reports from a mail service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReportKind {
    /// The mail service accepted the email.
    Accepted,
    /// Delivery is delayed.
    Delayed,
    /// The recipient's server accepted the email.
    Delivered,
    /// The recipient's server or the mail service permanently refused the email.
    Bounced,
    /// The recipient opened the email.
    Opened,
    /// The recipient followed a link in the email.
    Clicked,
    /// The recipient reported the email as spam.
    MarkedAsSpam,
}

impl ReportKind {
    /// Every kind.
    pub const ALL: [Self; 7] =
        [Self::Accepted, Self::Delayed, Self::Delivered, Self::Bounced, Self::Opened, Self::Clicked, Self::MarkedAsSpam];
}

/// A row of the table: a move, the statuses that permit it, and the statuses to which it may lead.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    /// The move.
    pub by: Move,
    /// The statuses that permit the move.
    pub from: &'static [Status],
    /// The statuses to which the move may lead; empty if the move never changes the status.
    pub to: &'static [Status],
}

const fn line(by: Move, from: &'static [Status], to: &'static [Status]) -> Transition {
    Transition { by, from, to }
}

/// A row for a move that does not change the status.
const fn stays(by: Move, from: &'static [Status]) -> Transition {
    line(by, from, &[])
}

/// Every transition between statuses. A status is final if workers and callers cannot move an entry
/// out of it: only reports from the mail service can still change such an entry.
pub const TRANSITIONS: &[Transition] = &[
    line(Move::BeginRendering, &[Preparing, Rendering], &[Rendering]),
    line(Move::FinishRendering, &[Rendering], &[Scheduled, Queued]),
    line(Move::FailRendering, &[Rendering], &[RenderError]),
    line(Move::Enqueue, &[Scheduled], &[Queued]),
    line(Move::BeginSending, &[Queued], &[Sending]),
    line(Move::FinishSending, &[Sending], &[Sent]),
    line(Move::Skip, &[Sending], &[Skipped]),
    line(Move::Expire, &[Queued], &[Skipped]),
    line(Move::Fold, &[Rendering], &[Skipped]),
    line(Move::Retry, &[Sending], &[Scheduled]),
    line(Move::Fail, &[Sending], &[ServerError]),
    line(Move::TakeBack, &[Rendering], &[Preparing]),
    line(Move::TakeBack, &[Sending], &[Queued]),
    line(Move::Patch, &[Paused], &[Paused, Preparing, RenderError, Scheduled, ServerError]),
    line(Move::Patch, &[Preparing], &[Preparing, Paused]),
    line(Move::Patch, &[Rendering], &[Rendering, Preparing, Paused]),
    line(Move::Patch, &[RenderError], &[RenderError, Preparing, Paused]),
    line(Move::Patch, &[Scheduled], &[Scheduled, Preparing, Paused]),
    line(Move::Patch, &[Queued], &[Queued, Scheduled, Preparing, Paused]),
    line(Move::Patch, &[ServerError], &[ServerError, Preparing, Paused]),
    line(Move::Cancel, &[Paused, Preparing, Rendering, RenderError, Scheduled, Queued, ServerError], &[Skipped]),
    // A report may arrive before the worker has recorded that the email was sent. Such a report
    // also resolves an unknown outcome.
    line(Move::Report(ReportKind::Accepted), &[Sending, ServerError, Sent], &[Sent]),
    stays(Move::Report(ReportKind::Accepted), &[DeliveryDelayed, Bounced, Opened, Clicked, MarkedAsSpam]),
    line(Move::Report(ReportKind::Delayed), &[Sending, ServerError, DeliveryDelayed], &[DeliveryDelayed]),
    // A delivered email is no longer delayed, regardless of the order of the reports.
    line(Move::Report(ReportKind::Delayed), &[Sent], &[DeliveryDelayed, Sent]),
    stays(Move::Report(ReportKind::Delayed), &[Bounced, Opened, Clicked, MarkedAsSpam]),
    line(Move::Report(ReportKind::Delivered), &[Sending, ServerError, Sent, DeliveryDelayed], &[Sent]),
    stays(Move::Report(ReportKind::Delivered), &[Bounced, Opened, Clicked, MarkedAsSpam]),
    line(Move::Report(ReportKind::Bounced), &[Sending, ServerError, Sent, DeliveryDelayed, Bounced], &[Bounced]),
    stays(Move::Report(ReportKind::Bounced), &[Opened, Clicked, MarkedAsSpam]),
    line(Move::Report(ReportKind::Opened), &[Sending, ServerError, Sent, DeliveryDelayed, Bounced, Opened], &[Opened]),
    stays(Move::Report(ReportKind::Opened), &[Clicked, MarkedAsSpam]),
    line(Move::Report(ReportKind::Clicked), &[Sending, ServerError, Sent, DeliveryDelayed, Bounced, Opened, Clicked], &[Clicked]),
    stays(Move::Report(ReportKind::Clicked), &[MarkedAsSpam]),
    line(
        Move::Report(ReportKind::MarkedAsSpam),
        &[Sending, ServerError, Sent, DeliveryDelayed, Bounced, Opened, Clicked, MarkedAsSpam],
        &[MarkedAsSpam],
    ),
];

impl Status {
    /// Every status.
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// The name of the status on the wire, in kebab-case.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The summary of this status.
    pub fn simple(self) -> SimpleStatus {
        match self {
            Paused | Preparing | Rendering | Scheduled | Queued | Sending => SimpleStatus::InProgress,
            RenderError | ServerError | Bounced => SimpleStatus::Error,
            _ => SimpleStatus::Ok,
        }
    }

    /// Whether API callers may edit an entry in this status.
    pub fn is_editable(self) -> bool {
        self.allows(Move::Patch)
    }

    /// Whether a move is permitted in this status.
    pub fn allows(self, by: Move) -> bool {
        TRANSITIONS.iter().any(|line| line.by == by && line.from.contains(&self))
    }

    /// Whether a move may lead from this status to `to`.
    pub fn leads_to(self, by: Move, to: Self) -> bool {
        TRANSITIONS
            .iter()
            .any(|line| line.by == by && line.from.contains(&self) && (line.to.contains(&to) || line.to.is_empty() && to == self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_first_seven_statuses_can_be_edited() {
        let editable: Vec<_> = Status::ALL.iter().filter(|status| status.is_editable()).map(|status| status.name()).collect();
        assert_eq!(editable, ["paused", "preparing", "rendering", "render-error", "scheduled", "queued", "server-error"]);
        assert!(Status::ALL.iter().all(|status| status.allows(Move::Cancel) == status.is_editable()));
    }

    #[test]
    fn every_status_is_reachable_and_has_a_unique_name() {
        for &status in Status::ALL {
            assert_eq!(status.name().parse(), Ok(status));
            let is_reached = TRANSITIONS.iter().any(|line| line.to.contains(&status) && line.from.iter().any(|from| *from != status));
            assert!(is_reached || status == Preparing, "{status:?}");
        }
    }

    /// An email that has been sent or has bounced only collects reports; a skipped email never
    /// changes again.
    #[test]
    fn only_reports_leave_a_final_status_and_lead_to_final_ones() {
        let last = [Skipped, Bounced, DeliveryDelayed, Sent, Opened, Clicked, MarkedAsSpam];
        for line in TRANSITIONS.iter().filter(|line| line.from.iter().any(|from| last.contains(from))) {
            assert!(matches!(line.by, Move::Report(_)) && line.to.iter().all(|to| last.contains(to)), "{line:?}");
            assert!(!line.from.contains(&Skipped), "{line:?}");
        }
    }

    /// Late reports must not be refused because of earlier reports, so each of these statuses
    /// permits every kind of report.
    #[test]
    fn every_report_applies_to_every_status_after_sending_starts() {
        for kind in ReportKind::ALL {
            for status in [Sending, ServerError, Sent, DeliveryDelayed, Bounced, Opened, Clicked, MarkedAsSpam] {
                assert!(status.allows(Move::Report(kind)), "{kind:?} in {status:?}");
            }
        }
    }
}
