//! What a mail service reports of a mail that it has taken: bounces, complaints, openings.
//!
//! Reports come late, in any order and more than once. So an entry keeps the earliest time of each kind, which is the same whatever the
//! order, and its state is read off them: the first of marked as spam, clicked, opened, bounced, delivered and delayed that is there.

use serde::{Deserialize, Serialize};
use wire::clock::Millis;

use crate::outbox::status::{ReportKind, Status};

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
