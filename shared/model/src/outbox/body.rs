//! The bodies of an email, which are stored in a separate item. Bodies are stored from rendering
//! until a day after the email was sent, skipped or given up, or until the email has waited too
//! long. Until then, administrators can see the bodies. The rest of the entry is kept.
//!
//! The bodies are most of an email's data, and each change to an entry is charged for the entire
//! entry, both in the table and in the index of the list. The bodies are therefore written only
//! once, at rendering, with an expiry. An email with codes is rendered again for sending, so its
//! bodies expire [`BODY_LIFE`] plus [`SLACK`] after the email is due. An email without codes may
//! wait in its queue for days, so its bodies expire [`MAX_WAIT`] after the email is due. When the
//! email is sent, skipped or given up, the expiry is corrected if necessary.
//!
//! DynamoDB deletes expired items free of charge, but up to a few days late, so readers check the
//! time themselves. An email without bodies is rendered again for sending.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wire::clock::after;

use crate::outbox::codes::{Codes, HIDDEN, in_link};
use crate::outbox::kept::{KeptBodies, SLACK};
use crate::outbox::{OutboxEntry, RenderedEmail, Stage};

/// How long the bodies are kept after an email was sent, skipped or given up.
pub const BODY_LIFE: SignedDuration = SignedDuration::from_hours(24);
/// How long an email without codes can be sent from its stored bodies, counted from the time when
/// the email is due. Later, the bodies must be rendered again. Bodies that belong to a worker that
/// lost its claim to another worker are not referenced, but are kept just as long.
pub const MAX_WAIT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The placeholder for the code of the unsubscribe link. The placeholder consists of characters
/// from the private use area, so texts do not contain it by accident.
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

    /// The bodies as sent to the recipient.
    #[must_use]
    pub fn with_unsubscribe_link(self, url: Option<&str>) -> Self {
        match url.and_then(in_link) {
            Some(code) => self.map(|body| body.replace(UNSUBSCRIBE_CODE, &code)),
            None => self,
        }
    }

    /// The bodies as shown to anyone other than the recipient.
    fn shown(self) -> Self {
        self.map(|body| body.replace(UNSUBSCRIBE_CODE, HIDDEN))
    }

    fn bytes(&self) -> usize {
        [&self.html, &self.text].into_iter().flatten().map(String::len).sum()
    }
}

/// A change to the separate item of the bodies, made together with a change to the entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyChange {
    /// Stores the bodies until this time.
    Store(Body, Timestamp),
    /// Changes when the bodies expire.
    Expire(Timestamp),
}

/// Where to find the bodies of an email that is about to be sent.
#[derive(Debug)]
pub enum Bodies {
    /// In the entry, as written by an earlier version.
    Inside(Body),
    /// In the separate item.
    Kept,
    /// Not stored: the bodies must be rendered.
    None,
}

impl RenderedEmail {
    /// Takes the bodies out of the entry, and the code of the unsubscribe link out of the bodies.
    fn take_bodies(&mut self) -> Option<Body> {
        let body = Body { html: self.html.take(), text: self.text.take() };
        let unsubscribe = self.unsubscribe_url.as_deref().map(Codes::from_link).unwrap_or_default();
        (body.html.is_some() || body.text.is_some()).then(|| body.map(|body| unsubscribe.replace(&body, UNSUBSCRIBE_CODE)))
    }
}

impl OutboxEntry {
    /// When the email was sent, skipped or given up; `None` if the email has not been sent yet.
    pub fn ended_at(&self) -> Option<Timestamp> {
        match self.stage {
            Stage::Sent { at, .. } | Stage::Skipped { at, .. } | Stage::ServerError { at, .. } => Timestamp::from_millisecond(at).ok(),
            _ => None,
        }
    }

    /// When the bodies count as erased; `None` until the email is sent, skipped or given up.
    fn erased_at(&self) -> Option<Timestamp> {
        self.ended_at().map(|end| after(end, BODY_LIFE))
    }

    /// Whether the bodies count as erased, even if the table still contains them.
    pub fn is_erased(&self, now: Timestamp) -> bool {
        self.erased_at().is_some_and(|erased| erased <= now)
    }

    /// Where to find the bodies to send. An email with codes is rendered again, with its codes.
    pub fn bodies(&self, now: Timestamp) -> Bodies {
        let mail = self.rendered.as_ref().filter(|_| !self.has_sealed_codes());
        match mail {
            Some(mail) if mail.kept.is_none() => Bodies::Inside(Body { html: mail.html.clone(), text: mail.text.clone() }),
            Some(_) if self.has_kept_bodies(now) => Bodies::Kept,
            _ => Bodies::None,
        }
    }

    /// Whether the bodies are stored in a separate item and have not expired.
    pub fn has_kept_bodies(&self, now: Timestamp) -> bool {
        !self.is_erased(now) && self.rendered.as_ref().and_then(|mail| mail.kept).is_some_and(|kept| kept.lasts(now))
    }

    /// Splits an entry into the part to store and, if there is one, the change to the separate item
    /// of its bodies. Drops expired bodies, codes that are no longer needed, and the unsubscribe
    /// link of an email that was sent, skipped or given up.
    pub fn parted(mut self) -> (Self, Option<BodyChange>) {
        let (codes, has_codes, end) = (self.clear_codes(), self.has_sealed_codes(), self.erased_at());
        // The bodies in an entry from an earlier version may contain codes. Such bodies stay in the
        // entry until the email is sent, skipped or given up, because the email is sent from them.
        if end.is_none() && !codes.is_empty() {
            return (self, None);
        }
        self.forget_codes();
        let (now, due) = (self.updated_at, self.due_at());
        let Some(mail) = &mut self.rendered else { return (self, None) };
        let body = mail.take_bodies();
        if end.is_some() {
            mail.unsubscribe_url = None;
        }
        let change = match (body, mail.kept, end) {
            (Some(body), _, _) => {
                let body = body.map(|body| codes.hide(&body));
                let due = due.unwrap_or(now);
                let known = end.or_else(|| has_codes.then(|| after(due, BODY_LIFE + SLACK)));
                mail.kept = Some(KeptBodies { until: known.map(Timestamp::as_millisecond), bytes: body.bytes() });
                let until = known.unwrap_or_else(|| after(due, MAX_WAIT));
                // An entry from an earlier version may have been sent, skipped or given up long
                // ago.
                (now < until).then_some(BodyChange::Store(body, until))
            }
            (None, Some(kept), Some(end)) if kept.lasts(now) && !kept.suits(end) => {
                mail.kept = Some(KeptBodies { until: Some(end.as_millisecond()), ..kept });
                Some(BodyChange::Expire(end))
            }
            (None, _, _) => None,
        };
        (self, change)
    }

    /// The change to the separate item of the bodies if an edit of the content, which resulted in
    /// `next`, discarded the bodies.
    pub fn discarded_bodies(&self, next: &Self) -> Option<BodyChange> {
        let had_bodies = self.rendered.as_ref().is_some_and(|mail| mail.kept.is_some());
        (had_bodies && next.rendered.is_none()).then(|| BodyChange::Expire(after(next.updated_at, BODY_LIFE)))
    }

    /// Adds bodies from the separate item, for display.
    pub fn join(&mut self, body: Body) {
        if let Some(mail) = &mut self.rendered {
            let Body { html, text } = body.shown();
            (mail.html, mail.text) = (html, text);
        }
    }
}
