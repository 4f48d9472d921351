//! The bodies of an email, stored in an item of their own from rendering until a day after the email
//! has ended, that is, was sent, skipped or given up. Administrators can see what was sent during
//! that day; the rest of the entry is kept.
//!
//! The bodies are most of what an email stores, and each change of an entry is charged for the
//! whole entry, in the table and in the index of the list. So the bodies are written once, when
//! they are rendered. Those of an email with codes, which is rendered again when it is sent, get
//! the expiry that suits an email that ends within [`SLACK`] of the time when it is due: only an
//! email that ends later, or is paused, changes the expiry. The bodies of any other email expire
//! only once it has ended, since it may wait in its queue for days.
//!
//! DynamoDB deletes expired items free of charge, but up to a few days late: readers check the time
//! themselves. An email without its bodies is rendered again when it is sent.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;

use crate::outbox::codes::{Codes, HIDDEN, in_link};
use crate::outbox::kept::Kept;
use crate::outbox::{OutboxEntry, Rendered, Stage};

/// How long the bodies are kept after an email has ended.
pub const BODY_LIFE: SignedDuration = SignedDuration::from_hours(24);
/// The longest time after [`BODY_LIFE`] for which the table may contain the bodies, apart from
/// DynamoDB's own delay.
pub const SLACK: SignedDuration = SignedDuration::from_hours(1);

/// Stands for the code of the unsubscribe link: the characters are for private use, so no text
/// contains them by accident.
const UNSUBSCRIBE_CODE: &str = "\u{e000}unsubscribe\u{e001}";

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

impl Body {
    fn map(self, change: impl Fn(String) -> String) -> Self {
        Self { html: self.html.map(&change), text: self.text.map(&change) }
    }

    /// The bodies as their recipient gets them.
    #[must_use]
    pub fn with_unsubscribe_link(self, url: Option<&str>) -> Self {
        match url.and_then(in_link) {
            Some(code) => self.map(|body| body.replace(UNSUBSCRIBE_CODE, &code)),
            None => self,
        }
    }

    /// The bodies as everybody except their recipient may see them.
    fn shown(self) -> Self {
        self.map(|body| body.replace(UNSUBSCRIBE_CODE, HIDDEN))
    }

    fn bytes(&self) -> usize {
        [&self.html, &self.text].into_iter().flatten().map(String::len).sum()
    }
}

/// A change to the separate item, which goes with a change of its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyChange {
    /// Stores the bodies until they expire.
    Store(Body, Option<Timestamp>),
    /// Changes only the expiry.
    Expire(Option<Timestamp>),
}

impl Rendered {
    /// Takes the bodies out of the entry, without the code of the unsubscribe link.
    fn take_bodies(&mut self) -> Option<Body> {
        let body = Body { html: self.html.take(), text: self.text.take() };
        let unsubscribe = self.unsubscribe_url.as_deref().map(Codes::of_link).unwrap_or_default();
        (body.bytes() > 0).then(|| body.map(|body| unsubscribe.replace(&body, UNSUBSCRIBE_CODE)))
    }
}

impl OutboxEntry {
    /// When the email was sent, skipped or given up; `None` if it has not ended.
    pub fn ended_at(&self) -> Option<Timestamp> {
        match self.stage {
            Stage::Sent { at, .. } | Stage::Skipped { at, .. } | Stage::ServerError { at, .. } => Timestamp::from_millisecond(at).ok(),
            _ => None,
        }
    }

    /// When the bodies count as erased; `None` if the email has not ended.
    fn erased_at(&self) -> Option<Timestamp> {
        self.ended_at().map(|end| after(end, BODY_LIFE))
    }

    /// Whether the bodies count as erased, even if the table still contains them.
    pub fn is_erased(&self, now: Timestamp) -> bool {
        self.erased_at().is_some_and(|erased| erased <= now)
    }

    /// Whether the bodies are stored in a separate item and have not expired.
    pub fn has_kept_bodies(&self, now: Timestamp) -> bool {
        !self.is_erased(now) && self.rendered.as_ref().and_then(|mail| mail.kept).is_some_and(|kept| kept.lasts(now))
    }

    /// Splits an entry into the part to store and the change to the separate item with its bodies,
    /// if there is one. Drops expired bodies, codes that are no longer needed, and the unsubscribe
    /// link of an ended email.
    pub fn parted(mut self) -> (Self, Option<BodyChange>) {
        self.forget_codes();
        let (now, end, due, has_codes) = (self.updated_at, self.erased_at(), self.due_at(), self.has_sealed_codes());
        // The bodies of an entry of an earlier version may contain codes, which must be masked at
        // the latest when the email ends.
        if end.is_none() && !self.clear_codes().is_empty() {
            return (self, None);
        }
        let Some(mail) = &mut self.rendered else { return (self, None) };
        let body = mail.take_bodies();
        if end.is_some() {
            mail.unsubscribe_url = None;
        }
        let change = match (body, mail.kept) {
            (Some(body), _) => {
                let until = end.or_else(|| due.filter(|_| has_codes).map(|due| after(due, BODY_LIFE + SLACK)));
                mail.kept = Some(Kept { until: until.map(Timestamp::as_millisecond), bytes: body.bytes() });
                // An entry of an earlier version may have ended long ago.
                until.is_none_or(|until| now < until).then_some(BodyChange::Store(body, until))
            }
            (None, Some(kept)) if kept.lasts(now) && !kept.suits(end, due) => {
                mail.kept = Some(Kept { until: end.map(Timestamp::as_millisecond), ..kept });
                Some(BodyChange::Expire(end))
            }
            (None, _) => None,
        };
        (self, change)
    }

    /// Adds bodies that were stored separately, for display.
    pub fn join(&mut self, body: Body) {
        if let Some(mail) = &mut self.rendered {
            let Body { html, text } = body.shown();
            (mail.html, mail.text) = (html, text);
        }
    }
}
