//! The fate of a notice, which is an unrequested email about an event in an account.

use jiff::Timestamp;
use serde_json::Value;

use crate::outbox::OutboxEntry;
use crate::outbox::stage::{SkippedReason, Stage};
use crate::outbox::status::Move;

/// Whether a notice is sent, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The notice is sent.
    Sent,
    /// The notice is sent at this time, and covers later notices.
    Last(Timestamp),
    /// An earlier notice covers this notice, which is not sent.
    Folded,
}

impl OutboxEntry {
    /// The entry with the fate of its notice, before rendering; the notice is not counted again.
    #[must_use]
    pub fn counted(mut self, fate: Fate) -> Self {
        self.notice = None;
        if let Fate::Last(at) = fate {
            self.scheduled_at = self.scheduled_at.max(at);
            self.variables.insert("is_last".to_owned(), Value::Bool(true));
        }
        self
    }

    /// rendering → skipped, if another notice covers this one.
    pub fn fold(mut self, now: Timestamp) -> Option<Self> {
        let Stage::Rendering { started_at, .. } = self.stage else { return None };
        self.status().allows(Move::Fold).then(|| {
            let at = now.as_millisecond();
            let (reason, started_rendering_at) = (SkippedReason::NoticesFolded, Some(started_at));
            self.stage = Stage::Skipped { at, reason, started_rendering_at, started_sending_at: None };
            self.updated_at = now;
            self
        })
    }
}
