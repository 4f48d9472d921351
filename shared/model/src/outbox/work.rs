//! The transitions that workers make. Each method returns the next state, or `None` if the
//! transition does not apply; the worker then skips the entry.

use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;
use wire::clock::{Millis, after};

use crate::outbox::codes::Codes;
use crate::outbox::reports::Reports;
use crate::outbox::status::Move;
use crate::outbox::{MAX_ATTEMPTS, OutboxEntry, RENDERING_LEASE, RenderedEmail, SENDING_LEASE, SendError, SkippedReason, Stage};

/// The largest entry, in bytes as counted by [`OutboxEntry::bytes`]. DynamoDB permits items of 400
/// KB, which must also have room for the keys and for the data that workers add later.
pub const MAX_BYTES: usize = 360_000;
/// How long the mail service may refuse all emails before an email is given up, in milliseconds.
const UNAVAILABLE_TIMEOUT: Millis = 24 * HOUR;
/// Refusals that are further apart are not consecutive. Between such refusals, the email was
/// waiting for something else, such as its project's quota or the end of a pause.
const APART: Millis = 6 * HOUR;
/// The maximum length of each text about a failure, in characters.
const MAX_FAILURE_TEXT: usize = 1_000;
const HOUR: Millis = 3_600_000;
/// The approximate size of an entry other than its texts and variables, in bytes.
const OTHER_BYTES: usize = 2048;

/// The outcome of an attempt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The mail service accepted the email.
    Sent {
        /// Whether the mail service will send reports on the email.
        is_reported_on: bool,
    },
    /// The email is not sent because there is no recipient, or because the user has unsubscribed or
    /// no longer exists.
    Skipped(SkippedReason),
    /// The email was not sent, but another attempt may succeed. A failure of the class
    /// [`SendError::NOT_NOW`] does not count as an attempt.
    Retryable(SendError),
    /// The email cannot be sent, or it is unknown whether it was sent.
    Final(SendError),
}

impl Outcome {
    /// Adds the cause, unless the error already has a cause.
    pub fn because(self, cause: String) -> Self {
        let said = |failure: SendError| if failure.cause.is_empty() { failure.because(cause) } else { failure };
        match self {
            Self::Retryable(failure) => Self::Retryable(said(failure)),
            Self::Final(failure) => Self::Final(said(failure)),
            other => other,
        }
    }

    /// Masks codes in the texts about the failure, because the mail service's response may quote
    /// the email. The texts are shortened only afterwards, because part of a code would not be
    /// recognized.
    pub fn without(self, codes: &Codes) -> Self {
        let masked = |text: &str| codes.hide(text).chars().take(MAX_FAILURE_TEXT).collect();
        let hidden = |failure: SendError| SendError { message: masked(&failure.message), cause: masked(&failure.cause), ..failure };
        match self {
            Self::Retryable(failure) => Self::Retryable(hidden(failure)),
            Self::Final(failure) => Self::Final(hidden(failure)),
            other => other,
        }
    }
}

/// The rendered subject and bodies, or the reason why rendering failed.
pub type Rendering = Result<(String, Option<String>, Option<String>), String>;

impl OutboxEntry {
    /// preparing → rendering; also takes over from a worker with an expired lease.
    pub fn begin_rendering(mut self, claim: Uuid, now: Timestamp) -> Option<Self> {
        let is_free = match self.stage {
            Stage::Rendering { started_at, .. } => is_over(started_at, RENDERING_LEASE, now),
            _ => true,
        };
        (self.may(Move::BeginRendering) && is_free).then(|| {
            self.stage = Stage::Rendering { claim, started_at: now.as_millisecond() };
            self.touched(now)
        })
    }

    /// rendering → scheduled, queued if the email is already due, or render-error; permitted only
    /// for the worker that holds the claim.
    pub fn finish_rendering(mut self, claim: Uuid, result: Rendering, now: Timestamp) -> Option<Self> {
        let Stage::Rendering { claim: held, started_at } = self.stage else { return None };
        let by = if result.is_ok() { Move::FinishRendering } else { Move::FailRendering };
        if held != claim || !self.may(by) {
            return None;
        }
        let at = now.as_millisecond();
        match result {
            Ok((subject, html, text)) => {
                self.rendered = Some(RenderedEmail { started_at, at, subject, html, text, unsubscribe_url: None, kept: None });
                self.stage = if self.scheduled_at <= now { Stage::Queued } else { Stage::Scheduled };
            }
            Err(message) => self.stage = Stage::RenderError { started_at, at, message },
        }
        if self.is_too_large() {
            self.rendered = None;
            self.stage = Stage::RenderError {
                started_at,
                at,
                message: format!("the email with its sources and variables is larger than {MAX_BYTES} bytes"),
            };
        }
        Some(self.touched(now))
    }

    /// scheduled → queued, at the scheduled time or at the time of the next attempt, whichever is
    /// later.
    pub fn enqueue(mut self, now: Timestamp) -> Option<Self> {
        let is_due = self.may(Move::Enqueue) && self.due_at().is_some_and(|due| due <= now);
        is_due.then(|| {
            self.stage = Stage::Queued;
            self.next_retry_at = None;
            self.touched(now)
        })
    }

    /// queued → skipped, if the code in the email has expired.
    pub fn expire(mut self, now: Timestamp) -> Option<Self> {
        let is_over = self.expires_at().is_some_and(|end| end <= now);
        (self.may(Move::Expire) && is_over).then(|| {
            let reason = SkippedReason::CodeExpired;
            let started_rendering_at = self.rendered.as_ref().map(|mail| mail.started_at);
            self.stage = Stage::Skipped { at: now.as_millisecond(), reason, started_rendering_at, started_sending_at: None };
            self.touched(now)
        })
    }

    /// queued → sending. Edits are refused until the attempt to send ends.
    pub fn begin_sending(mut self, claim: Uuid, now: Timestamp) -> Option<Self> {
        self.may(Move::BeginSending).then(|| {
            self.stage = Stage::Sending { claim, started_at: now.as_millisecond() };
            self.touched(now)
        })
    }

    /// sending → sent, skipped, scheduled for another attempt, or server-error; permitted only for
    /// the worker that holds the claim. `jitter` is random, in [0, 1).
    pub fn finish_sending(mut self, claim: Uuid, mut outcome: Outcome, jitter: f64, now: Timestamp) -> Option<Self> {
        let Stage::Sending { claim: held, started_at } = self.stage else { return None };
        if held != claim {
            return None;
        }
        let at = now.as_millisecond();
        let wait = if let Outcome::Retryable(failure) = &mut outcome { self.wait_after(failure) } else { None };
        match outcome {
            Outcome::Sent { is_reported_on } => {
                self.stage = Stage::Sent { started_at, at, reports: Reports::default(), is_reported_on };
            }
            Outcome::Skipped(reason) => {
                self.stage = Stage::Skipped { at, reason, started_rendering_at: None, started_sending_at: Some(started_at) };
            }
            Outcome::Retryable(failure) | Outcome::Final(failure) => {
                self.stage = if let Some(seconds) = wait {
                    self.next_retry_at = Some(after(now, SignedDuration::from_secs_f64((0.5 + jitter) * seconds)));
                    Stage::Scheduled
                } else {
                    Stage::ServerError { started_at, at, message: failure.message.clone() }
                };
                self.failures.push(failure);
            }
        }
        Some(self.touched(now))
    }

    /// sending → server-error, once the worker's lease has expired. The email may have been sent,
    /// so the service never retries it.
    pub fn abandon_sending(self, now: Timestamp) -> Option<Self> {
        let Stage::Sending { claim, started_at } = self.stage else { return None };
        if !is_over(started_at, SENDING_LEASE, now) {
            return None;
        }
        let failure = SendError::unknown(now, "the worker stopped before it learned whether the email was sent");
        self.finish_sending(claim, Outcome::Final(failure), 0.0, now)
    }

    /// rendering → preparing, sending → queued; permitted only if it is certain that the worker has
    /// stopped and the email was not sent.
    pub fn take_back(mut self, now: Timestamp) -> Option<Self> {
        let stage = match self.stage {
            Stage::Rendering { .. } => Stage::Preparing,
            Stage::Sending { .. } => Stage::Queued,
            _ => return None,
        };
        self.may(Move::TakeBack).then(|| {
            self.stage = stage;
            self.touched(now)
        })
    }

    /// Whether the entry is too large to store.
    pub fn is_too_large(&self) -> bool {
        self.bytes() > MAX_BYTES
    }

    /// The entry without its sources, variables and bodies, for a list that does not show them.
    #[must_use]
    pub fn without_content(mut self) -> Self {
        (self.source.subject, self.source.html, self.source.text) = (None, None, None);
        self.variables.clear();
        if let Some(mail) = &mut self.rendered {
            (mail.html, mail.text) = (None, None);
        }
        self
    }

    /// The approximate size in bytes before compression, including bodies that are stored
    /// separately.
    pub fn bytes(&self) -> usize {
        let source = [&self.source.subject, &self.source.html, &self.source.text];
        let rendered = self.rendered.iter().flat_map(|mail| [mail.html.as_ref(), mail.text.as_ref(), Some(&mail.subject)]);
        let kept = self.rendered.as_ref().and_then(|mail| mail.kept).map_or(0, |kept| kept.bytes);
        let texts = source.into_iter().map(Option::as_ref).chain(rendered).flatten().map(String::len).sum::<usize>();
        let variables =
            if self.variables.is_empty() { 0 } else { serde_json::to_vec(&self.variables).map_or(MAX_BYTES, |json| json.len()) };
        OTHER_BYTES + texts + kept + variables
    }

    fn may(&self, by: Move) -> bool {
        self.status().allows(by)
    }

    /// The seconds until the next attempt after this failure, before a random factor from 0.5 to
    /// 1.5; `None` if no attempt follows.
    ///
    /// After an attempt that counts, the wait is 40 seconds, doubled for each earlier attempt that
    /// counts. After a temporary refusal, the wait equals the time for which the mail service has
    /// not accepted emails, but is at least 40 and at most 400 seconds. Only the first and the last
    /// of consecutive refusals are kept.
    fn wait_after(&mut self, failure: &mut SendError) -> Option<f64> {
        let counts = |failure: &SendError| failure.class != SendError::NOT_NOW;
        if counts(failure) {
            let earlier = self.failures.iter().filter(|failure| counts(failure)).count();
            return (earlier + 1 < MAX_ATTEMPTS).then(|| f64::from(40_u32 << earlier));
        }
        let first = self.failures.iter().rposition(counts).map_or(0, |last| last + 1);
        let continues = self.failures.last().is_some_and(|last| failure.at - last.at < APART);
        self.failures.truncate(first + usize::from(continues));
        let waited = self.failures.get(first).map_or(0, |first| failure.at - first.at);
        if waited >= UNAVAILABLE_TIMEOUT {
            "the email service has not accepted any emails for a day".clone_into(&mut failure.message);
            return None;
        }
        Some(SignedDuration::from_millis(waited).as_secs_f64().clamp(40.0, 400.0))
    }

    fn touched(mut self, now: Timestamp) -> Self {
        self.updated_at = now;
        self
    }
}

fn is_over(started_at: i64, lease: SignedDuration, now: Timestamp) -> bool {
    Timestamp::from_millisecond(started_at).map_or(true, |started| after(started, lease) <= now)
}
