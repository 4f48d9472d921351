//! The fifteen states of an entry of the outbox, and every way from one to another.
//!
//! [`TRANSITIONS`] is the law: a move that it does not name for a state is not made, and the walks of the tests fail when a move leads
//! to a state that it does not name.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};
use utoipa::ToSchema;

/// The state of an entry on the wire; the first seven can be edited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Status {
    Paused,
    Preparing,
    Rendering,
    RenderError,
    Scheduled,
    Queued,
    ServerError,
    Sending,
    Skipped,
    Bounced,
    DeliveryDelayed,
    Sent,
    Opened,
    Clicked,
    MarkedAsSpam,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, EnumString)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SimpleStatus {
    InProgress,
    Error,
    Ok,
}

use Status::{
    Bounced, Clicked, DeliveryDelayed, MarkedAsSpam, Opened, Paused, Preparing, Queued, RenderError, Rendering, Scheduled, Sending, Sent,
    ServerError, Skipped,
};

/// What may happen to an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// A worker begins to render, or takes over from one whose lease is over.
    BeginRendering,
    FinishRendering,
    FailRendering,
    /// Its time has come.
    Enqueue,
    /// A worker begins to send; from here on no edit is taken.
    BeginSending,
    /// The mail service took it.
    FinishSending,
    /// There is nobody to send it to.
    Skip,
    /// What it carries is of no use any more.
    Expire,
    /// An attempt failed that may be repeated.
    Retry,
    /// An attempt failed for good, or nobody knows how it ended.
    Fail,
    /// The worker that had begun is known to be gone, and its mail not to have left.
    TakeBack,
    /// Users edit, reschedule, pause or resume it, or touch it by an empty patch.
    Patch,
    Cancel,
    /// The mail service reports what became of it.
    Report(ReportKind),
}

/// What a mail service reports of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReportKind {
    /// It has taken the mail.
    Accepted,
    Delayed,
    Delivered,
    /// The recipient's server refused it for good, or the mail service did.
    Bounced,
    Opened,
    Clicked,
    MarkedAsSpam,
}

impl ReportKind {
    pub const ALL: [Self; 7] =
        [Self::Accepted, Self::Delayed, Self::Delivered, Self::Bounced, Self::Opened, Self::Clicked, Self::MarkedAsSpam];
}

/// One line of the table: by this move, from these states to one of those, or to none other when there are none.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    pub by: Move,
    pub from: &'static [Status],
    pub to: &'static [Status],
}

const fn line(by: Move, from: &'static [Status], to: &'static [Status]) -> Transition {
    Transition { by, from, to }
}

/// A line of states that a move does not change.
const fn stays(by: Move, from: &'static [Status]) -> Transition {
    line(by, from, &[])
}

/// Every way from one state to another. A state that no line of a worker or a user leaves is final: only what the mail service reports
/// adds to it.
pub const TRANSITIONS: &[Transition] = &[
    line(Move::BeginRendering, &[Preparing, Rendering], &[Rendering]),
    line(Move::FinishRendering, &[Rendering], &[Scheduled, Queued]),
    line(Move::FailRendering, &[Rendering], &[RenderError]),
    line(Move::Enqueue, &[Scheduled], &[Queued]),
    line(Move::BeginSending, &[Queued], &[Sending]),
    line(Move::FinishSending, &[Sending], &[Sent]),
    line(Move::Skip, &[Sending], &[Skipped]),
    line(Move::Expire, &[Queued], &[Skipped]),
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
    // A report may be faster than the worker that sent, and tells what became of a mail whose outcome was unknown.
    line(Move::Report(ReportKind::Accepted), &[Sending, ServerError, Sent], &[Sent]),
    stays(Move::Report(ReportKind::Accepted), &[DeliveryDelayed, Bounced, Opened, Clicked, MarkedAsSpam]),
    line(Move::Report(ReportKind::Delayed), &[Sending, ServerError, DeliveryDelayed], &[DeliveryDelayed]),
    // One that was delivered is delayed no longer, whichever of the two is heard of first.
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
    pub const ALL: &[Self] = <Self as VariantArray>::VARIANTS;

    /// The name on the wire, in lower case with hyphens.
    pub fn name(self) -> &'static str {
        self.into()
    }

    pub fn simple(self) -> SimpleStatus {
        match self {
            Paused | Preparing | Rendering | Scheduled | Queued | Sending => SimpleStatus::InProgress,
            RenderError | ServerError | Bounced => SimpleStatus::Error,
            _ => SimpleStatus::Ok,
        }
    }

    /// The transitions that users of the API may make.
    pub fn is_editable(self) -> bool {
        self.allows(Move::Patch)
    }

    /// Whether a move may be made in this state.
    pub fn allows(self, by: Move) -> bool {
        TRANSITIONS.iter().any(|line| line.by == by && line.from.contains(&self))
    }

    /// Whether a move may lead from this state to that.
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
    fn the_seven_states_of_the_specification_can_be_edited() {
        let editable: Vec<_> = Status::ALL.iter().filter(|status| status.is_editable()).map(|status| status.name()).collect();
        assert_eq!(editable, ["paused", "preparing", "rendering", "render-error", "scheduled", "queued", "server-error"]);
        assert!(Status::ALL.iter().all(|status| status.allows(Move::Cancel) == status.is_editable()));
    }

    #[test]
    fn every_state_but_the_first_is_reached_and_every_name_is_its_own() {
        for &status in Status::ALL {
            assert_eq!(status.name().parse(), Ok(status));
            let is_reached = TRANSITIONS.iter().any(|line| line.to.contains(&status) && line.from.iter().any(|from| *from != status));
            assert!(is_reached || status == Preparing, "{status:?}");
        }
    }

    /// What is sent, skipped or bounced is told more of, and never becomes a mail to be sent again.
    #[test]
    fn nothing_but_reports_leaves_a_final_state_and_they_lead_to_final_ones() {
        let last = [Skipped, Bounced, DeliveryDelayed, Sent, Opened, Clicked, MarkedAsSpam];
        for line in TRANSITIONS.iter().filter(|line| line.from.iter().any(|from| last.contains(from))) {
            assert!(matches!(line.by, Move::Report(_)) && line.to.iter().all(|to| last.contains(to)), "{line:?}");
            assert!(!line.from.contains(&Skipped), "{line:?}");
        }
    }

    /// A report that is heard twice changes nothing the second time, and none is an error in a state that it can meet.
    #[test]
    fn every_report_can_meet_every_state_after_sending_has_begun() {
        for kind in ReportKind::ALL {
            for status in [Sending, ServerError, Sent, DeliveryDelayed, Bounced, Opened, Clicked, MarkedAsSpam] {
                assert!(status.allows(Move::Report(kind)), "{kind:?} in {status:?}");
            }
        }
    }
}
