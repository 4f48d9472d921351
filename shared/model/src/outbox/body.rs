//! The bodies of a mail that has come to its end: they are kept for a day, for whoever looks what was sent, and then erased. The rest of
//! its entry stays.
//!
//! Until its end a mail has its bodies in its entry, where the worker finds them. Its end moves them to an item of their own, which expires
//! by TTL: DynamoDB deletes it for nothing, and the entry is smaller from then on, whatever is still reported of it. As TTL is late by up
//! to two days, whoever reads goes by the time.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;

use crate::outbox::codes::Codes;
use crate::outbox::kept::Kept;
use crate::outbox::{OutboxEntry, Stage};

/// How long the bodies of a mail are kept after its end.
pub const BODY_LIFE: SignedDuration = SignedDuration::from_hours(24);

/// The bodies of a mail, apart from its entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    #[serde(default, with = "crate::text::packed")]
    pub html: Option<String>,
    #[serde(default, with = "crate::text::packed")]
    pub text: Option<String>,
}

impl OutboxEntry {
    /// When the mail went out, or was given up.
    pub fn ended_at(&self) -> Option<Timestamp> {
        match self.stage {
            Stage::Sent { at, .. } | Stage::Skipped { at, .. } | Stage::ServerError { at, .. } => Timestamp::from_millisecond(at).ok(),
            _ => None,
        }
    }

    /// Whether the bodies of the mail are erased, wherever the table still has them.
    pub fn is_erased(&self, now: Timestamp) -> bool {
        self.ended_at().is_some_and(|end| after(end, BODY_LIFE) <= now)
    }

    /// Whether the bodies are in an item of their own.
    pub fn has_kept_bodies(&self, now: Timestamp) -> bool {
        !self.is_erased(now) && self.rendered.as_ref().and_then(|mail| mail.kept).is_some_and(|kept| now.as_millisecond() < kept.until)
    }

    /// The entry as the table has it, and the bodies that are kept apart from now on, until the time beside them.
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
        // The end of a mail of the version before may be long ago.
        (self, (now < until).then_some((body, until)))
    }

    /// Puts the bodies back that were kept apart, to be shown.
    pub fn join(&mut self, body: Body) {
        if let Some(mail) = &mut self.rendered {
            (mail.html, mail.text) = (body.html, body.text);
        }
    }
}
