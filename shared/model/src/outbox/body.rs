//! The bodies of emails that have ended: they were sent, skipped or given up. The bodies are kept
//! for a day so that administrators can see what was sent, and then erased; the rest of the entry
//! is kept.
//!
//! Until an email ends, its entry contains the bodies, where the worker reads them. Then they move
//! to an item of their own with a TTL: DynamoDB deletes that item free of charge, and the entry is
//! smaller in all later updates. Since TTL deletes items up to a few days late, readers check the
//! time themselves.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;

use crate::outbox::codes::Codes;
use crate::outbox::kept::Kept;
use crate::outbox::{OutboxEntry, Stage};

/// How long the bodies are kept after an email has ended.
pub const BODY_LIFE: SignedDuration = SignedDuration::from_hours(24);

/// The bodies of an email, stored in a separate item from its entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// The rendered HTML body.
    #[serde(default, with = "crate::text::packed")]
    pub html: Option<String>,
    /// The rendered text body.
    #[serde(default, with = "crate::text::packed")]
    pub text: Option<String>,
}

impl OutboxEntry {
    /// When the email was sent, skipped or given up; `None` if it has not ended.
    pub fn ended_at(&self) -> Option<Timestamp> {
        match self.stage {
            Stage::Sent { at, .. } | Stage::Skipped { at, .. } | Stage::ServerError { at, .. } => Timestamp::from_millisecond(at).ok(),
            _ => None,
        }
    }

    /// Whether the bodies count as erased, even if the table still contains them.
    pub fn is_erased(&self, now: Timestamp) -> bool {
        self.ended_at().is_some_and(|end| after(end, BODY_LIFE) <= now)
    }

    /// Whether the bodies are stored in a separate item and have not expired.
    pub fn has_kept_bodies(&self, now: Timestamp) -> bool {
        !self.is_erased(now) && self.rendered.as_ref().and_then(|mail| mail.kept).is_some_and(|kept| now.as_millisecond() < kept.until)
    }

    /// Splits an entry into the part to store and, if the email has ended and has bodies, the
    /// bodies to store separately, with the time when they expire. Drops expired bodies, codes that
    /// are no longer needed, and the unsubscribe link of an ended email, whose code is masked in
    /// the bodies.
    pub fn parted(mut self) -> (Self, Option<(Body, Timestamp)>) {
        self.forget_codes();
        let (now, until) = (self.updated_at, self.ended_at().map(|end| after(end, BODY_LIFE)));
        let (Some(until), Some(mail)) = (until, &mut self.rendered) else { return (self, None) };
        let unsubscribe = mail.unsubscribe_url.take().map(|url| Codes::of_link(&url)).unwrap_or_default();
        let [html, text] = [&mut mail.html, &mut mail.text].map(|body| body.take().map(|body| unsubscribe.hide(&body)));
        let body = Body { html, text };
        let bytes = [&body.html, &body.text].into_iter().flatten().map(String::len).sum();
        if bytes == 0 {
            return (self, None);
        }
        mail.kept = Some(Kept { until: until.as_millisecond(), bytes });
        // An entry of an earlier version may have ended long ago.
        (self, (now < until).then_some((body, until)))
    }

    /// Adds bodies that were stored separately, for display.
    pub fn join(&mut self, body: Body) {
        if let Some(mail) = &mut self.rendered {
            (mail.html, mail.text) = (body.html, body.text);
        }
    }
}
