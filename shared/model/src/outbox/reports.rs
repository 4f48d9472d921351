//! The mail service's reports about an accepted email: delays, deliveries, bounces, complaints,
//! opens and clicks.
//!
//! Reports arrive late, in any order and more than once. An entry therefore keeps only the earliest
//! time of each kind of report, which does not depend on the order of the reports. The entry's
//! status is the first one in this list for which a report has arrived: marked as spam, clicked,
//! opened, bounced, delivered, delayed.

use serde::{Deserialize, Serialize};
use wire::clock::Millis;

use crate::outbox::status::{ReportKind, Status};

/// The earliest time of each kind of report, in milliseconds since the Unix epoch. There is no
/// field for acceptance, because [`Stage::Sent`](crate::outbox::Stage::Sent) implies acceptance.
#[wire::sparse]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reports {
    /// Delivery was delayed.
    pub delayed_at: Option<Millis>,
    /// The recipient's server accepted the email.
    pub delivered_at: Option<Millis>,
    /// The recipient's server or the mail service permanently refused the email.
    pub bounced_at: Option<Millis>,
    /// The recipient opened the email.
    pub opened_at: Option<Millis>,
    /// The recipient followed a link in the email.
    pub clicked_at: Option<Millis>,
    /// The recipient reported the email as spam.
    pub marked_as_spam_at: Option<Millis>,
}

impl Reports {
    /// Whether there are no reports.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The status of a sent email, derived from the reports.
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

    pub(crate) fn note(&mut self, kind: ReportKind, at: Millis) {
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
