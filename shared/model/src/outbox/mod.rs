//! The outbox: each entry is one email, from the request to the outcome.
//!
//! An entry has one [`Stage`]. Pausing is a separate flag, so a resumed entry continues in the
//! stage in which it was paused. Every transition has a row in
//! [`crate::outbox::status::TRANSITIONS`] and a method that takes the entry and either returns its
//! next state or refuses the transition. The store writes the result only if the entry has not
//! changed since it was read, so a worker never overwrites a confirmed edit.

pub mod stage;

pub mod body;
#[cfg(test)]
mod body_tests;
pub mod codes;
#[cfg(test)]
mod codes_tests;
pub mod delivery;
pub mod kept;
pub mod notice;
pub mod notice_count;
pub mod patch;
pub mod quota;
pub mod report;
pub mod reports;
pub mod status;
mod stored;
#[cfg(test)]
mod tests;
pub mod view;
#[cfg(test)]
mod walks;
pub mod work;

use std::collections::BTreeMap;

use crypto::seal::SealedText;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::clock::{Millis, after};
use wire::id::{EmailId, UserId};

pub use stage::{RenderedEmail, SendError, SkippedReason, Stage};

use crate::code::Purpose;
use crate::document::builtin::{Builtin, Sources};
use crate::document::theme::DEFAULT_THEME;
use crate::email::Email;
use crate::email::category::Category;
use crate::outbox::notice_count::NoticeCount;
use crate::outbox::status::Status;
use crate::team::invitation;

/// How long a worker may take to render before another worker may take over.
pub const RENDERING_LEASE: SignedDuration = SignedDuration::from_mins(1);
/// How long a worker may take to send. After this time, the outcome counts as unknown.
pub const SENDING_LEASE: SignedDuration = SignedDuration::from_mins(20);
/// The maximum number of attempts to send; editing the content resets the count.
pub const MAX_ATTEMPTS: usize = 5;
/// The maximum number of addresses of an email: Amazon SES sends to at most 50 at once.
pub const MAX_ADDRESSES: usize = 50;

/// An outbox entry, as stored in the table. Each change of an entry's state is charged for the size
/// of the entire entry: twice in a transaction, and again in the list. An entry therefore has to
/// stay below 1 KB, and usual values are left out (`stored.rs`).
#[wire::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutboxEntry {
    /// The id of the email. The entry's key contains the id, so only earlier versions also store
    /// the id as a field.
    #[serde(default = "stored::id_of_key", skip_serializing)]
    pub id: EmailId,
    /// When the entry was created.
    pub created_at: Timestamp,
    /// When the entry was last changed.
    pub updated_at: Timestamp,
    /// Who receives the email.
    pub to: Recipients,
    /// The sources that the email is rendered from.
    pub source: Source,
    /// The template's variables. Codes are masked, except in an entry from an earlier version until
    /// this version first stores it as sent or skipped.
    #[serde(default, with = "stored::variables")]
    pub variables: Map<String, Value>,
    /// The variables that contain a code, each sealed. Empty once the email has been sent or
    /// skipped, if an edit has replaced all codes, and in a sign-in invitation. Absent in all other
    /// emails without codes. In an entry from an earlier version, absent until the codes in
    /// `variables` are masked. See [`crate::outbox::codes`].
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored::codes")]
    pub codes: Option<BTreeMap<String, SealedText>>,
    /// The category of the email.
    #[serde(default, skip_serializing_if = "stored::is_usual")]
    pub category: Category,
    /// Whether the email is sent before emails without high priority.
    pub is_high_priority: bool,
    /// Whether the email is one of the service's own ([`Self::is_of_service`]) and goes to an
    /// address other than a verified address of its user. Determined at rendering.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_to_stranger: bool,
    /// How a notice is counted before it is rendered. Absent once the notice has been counted, in
    /// emails other than notices, and in an entry from an earlier version.
    pub notice: Option<NoticeCount>,
    /// Whether the email was created from a draft or by an API call.
    #[serde(default, skip_serializing_if = "stored::is_usual")]
    pub created_with: CreatedWith,
    /// Stored for published SDKs, but has no effect: deliverability is not checked.
    #[serde(default, skip_serializing_if = "stored::is_usual")]
    pub skip_deliverability_check: bool,
    /// When to send the email.
    pub scheduled_at: Timestamp,
    /// Whether the entry is paused: workers skip it until it is resumed.
    #[serde(default, skip_serializing_if = "stored::is_usual")]
    pub is_paused: bool,
    /// The current stage.
    pub stage: Stage,
    /// The result of rendering; absent while the entry is not rendered.
    pub rendered: Option<RenderedEmail>,
    /// Failed attempts to send since the last edit of the content, oldest first. Only the first and
    /// the last of consecutive temporary refusals ([`SendError::NOT_NOW`]) are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<SendError>,
    /// When the next attempt is due, if the last attempt failed and may be repeated.
    pub next_retry_at: Option<Timestamp>,
}

/// The recipients of an email. Users' addresses are looked up when the email is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, deserr::Deserr)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[deserr(tag = "type", deny_unknown_fields)]
pub enum Recipients {
    /// The primary address of a user.
    #[deserr(rename = "user-primary-email")]
    UserPrimaryEmail {
        /// The user.
        user_id: UserId,
    },
    /// The listed addresses; the user's subscriptions apply.
    #[deserr(rename = "user-custom-emails")]
    UserCustomEmails {
        /// The user whose subscriptions apply.
        user_id: UserId,
        /// The addresses.
        emails: Vec<Email>,
    },
    /// The listed addresses; no user's subscriptions apply.
    #[deserr(rename = "custom-emails")]
    CustomEmails {
        /// The addresses.
        emails: Vec<Email>,
    },
}

impl Recipients {
    /// The user for whom the email is intended, if any.
    pub fn user_id(&self) -> Option<UserId> {
        match self {
            Self::UserPrimaryEmail { user_id } | Self::UserCustomEmails { user_id, .. } => Some(*user_id),
            Self::CustomEmails { .. } => None,
        }
    }

    /// The listed addresses; empty if the email goes to a user's primary address.
    pub fn addresses(&self) -> &[Email] {
        match self {
            Self::UserPrimaryEmail { .. } => &[],
            Self::UserCustomEmails { emails, .. } | Self::CustomEmails { emails } => emails,
        }
    }
}

/// The MiniJinja sources of an email. Missing sources come from the built-in email. If neither the
/// subject nor the HTML is set and the project overrides the built-in email's template, all sources
/// come from the project's template.
#[wire::sparse]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The built-in email, if the entry is for a built-in email.
    pub builtin: Option<Builtin>,
    /// Source of the subject.
    pub subject: Option<String>,
    /// Source of the body, in HTML or MJML.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::packed")]
    pub html: Option<String>,
    /// Source of the text body. If absent, the built-in text is used or, if the email is not built
    /// in or `html` is set, a text derived from the HTML.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::packed")]
    pub text: Option<String>,
    /// The theme around the email; absent for no theme. In a built-in email, the id of the default
    /// theme stands for the project's theme, which the worker looks up.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "stored::theme")]
    pub theme_id: Option<Uuid>,
    /// The template that the sources were copied from.
    pub template_id: Option<Uuid>,
    /// The draft that the sources were copied from.
    pub draft_id: Option<Uuid>,
}

impl Source {
    /// The sources of a built-in email.
    pub fn builtin(mail: Builtin) -> Self {
        Self { builtin: Some(mail), theme_id: Some(DEFAULT_THEME), ..Self::default() }
    }

    /// The sources, with missing ones taken from the built-in email.
    pub fn complete(&self) -> Sources<'_> {
        let builtin = self.builtin.map(Builtin::sources);
        Sources {
            subject: self.subject.as_deref().or(builtin.map(|builtin| builtin.subject)).unwrap_or_default(),
            html: self.html.as_deref().or(builtin.map(|builtin| builtin.html)).unwrap_or_default(),
            // The built-in text does not match edited HTML.
            text: self.text.as_deref().or_else(|| builtin.filter(|_| self.html.is_none()).and_then(|builtin| builtin.text)),
        }
    }
}

/// The origin of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CreatedWith {
    /// A draft was sent.
    Draft,
    /// An operation was called.
    #[default]
    ProgrammaticCall,
}

/// The content of a new entry.
#[derive(Debug, Clone)]
pub struct NewEntry {
    /// Who receives the email.
    pub to: Recipients,
    /// The sources that the email is rendered from.
    pub source: Source,
    /// The template's variables.
    pub variables: Map<String, Value>,
    /// The category of the email.
    pub category: Category,
    /// Whether the email is sent before emails without high priority.
    pub is_high_priority: bool,
    /// Whether the email was created from a draft or by an API call.
    pub created_with: CreatedWith,
    /// When to send the email; as soon as possible if absent.
    pub scheduled_at: Option<Timestamp>,
}

impl NewEntry {
    /// A transactional email with high priority that is sent as soon as possible.
    pub fn urgent(to: Recipients, source: Source, variables: Map<String, Value>) -> Self {
        Self {
            to,
            source,
            variables,
            category: Category::Transactional,
            is_high_priority: true,
            created_with: CreatedWith::ProgrammaticCall,
            scheduled_at: None,
        }
    }
}

impl OutboxEntry {
    /// A new entry, which waits to be rendered.
    pub fn new(id: EmailId, new: NewEntry, now: Timestamp) -> Self {
        Self {
            id,
            created_at: now,
            updated_at: now,
            to: new.to,
            source: new.source,
            variables: new.variables,
            codes: None,
            category: new.category,
            is_high_priority: new.is_high_priority,
            is_to_stranger: false,
            notice: None,
            created_with: new.created_with,
            skip_deliverability_check: false,
            scheduled_at: new.scheduled_at.unwrap_or(now),
            is_paused: false,
            stage: Stage::Preparing,
            rendered: None,
            failures: Vec::new(),
            next_retry_at: None,
        }
    }

    /// The status, derived from the stage, the reports and the pause.
    pub fn status(&self) -> Status {
        if self.is_paused {
            return Status::Paused;
        }
        match &self.stage {
            Stage::Preparing => Status::Preparing,
            Stage::Rendering { .. } => Status::Rendering,
            Stage::RenderError { .. } => Status::RenderError,
            Stage::Scheduled => Status::Scheduled,
            Stage::Queued => Status::Queued,
            Stage::Sending { .. } => Status::Sending,
            Stage::ServerError { .. } => Status::ServerError,
            Stage::Skipped { .. } => Status::Skipped,
            Stage::Sent { reports, .. } => reports.status(),
        }
    }

    /// The priority in a project's queue: emails with greater numbers are sent first.
    pub fn priority(&self) -> u8 {
        (if self.is_high_priority { 100 } else { 0 }) + (if self.category == Category::Transactional { 10 } else { 0 })
    }

    /// When the code in a built-in email expires. `None` if the email is not built in or `codes` is
    /// absent, and for emails that do not have a code or are sent even after it has expired.
    pub fn expires_at(&self) -> Option<Timestamp> {
        let life = match self.source.builtin? {
            Builtin::VerifyEmail => Purpose::VerifyEmail.life(),
            Builtin::SignIn => Purpose::SignIn.life(),
            Builtin::ResetPassword => Purpose::ResetPassword.life(),
            Builtin::TeamInvitation => invitation::LIFE,
            Builtin::SignInInvitation
            | Builtin::NewSignIn
            | Builtin::AccountClaimed
            | Builtin::PasswordClosed
            | Builtin::AccountChanged => return None,
        };
        self.codes.is_some().then(|| after(self.created_at, life))
    }

    /// Whether this is one of the service's own emails: a built-in email, even if edited, or an
    /// email with `codes`, even if empty.
    pub fn is_of_service(&self) -> bool {
        self.codes.is_some() || self.source.builtin.is_some()
    }

    /// When a worker should process the entry. `None` if the entry is paused, or if the email was
    /// sent, skipped or given up, or could not be rendered.
    pub fn due_at(&self) -> Option<Timestamp> {
        if self.is_paused {
            return None;
        }
        let lease_end = |started: Millis, lease| Some(after(Timestamp::from_millisecond(started).ok()?, lease));
        match self.stage {
            Stage::Preparing | Stage::Queued => Some(self.updated_at),
            Stage::Scheduled => Some(self.next_retry_at.map_or(self.scheduled_at, |retry| retry.max(self.scheduled_at))),
            Stage::Rendering { started_at, .. } => lease_end(started_at, RENDERING_LEASE),
            Stage::Sending { started_at, .. } => lease_end(started_at, SENDING_LEASE),
            _ => None,
        }
    }
}
