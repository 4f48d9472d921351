//! The e-mail outbox: one entry is one mail, from the request for it to what became of it.
//!
//! An entry has one [`Stage`]; being paused is a flag beside it, so that a resumed entry continues where it was. Every move is a line of
//! [`crate::outbox::status::TRANSITIONS`], and a method that takes the entry and gives the next one or refuses; the store writes the
//! result on the condition that nobody moved the entry meanwhile. So an edit that was answered with success is never overtaken by a worker.

pub mod stage;

pub mod body;
pub mod codes;
#[cfg(test)]
mod codes_tests;
pub mod delivery;
pub mod kept;
pub mod patch;
pub mod quota;
pub mod report;
pub mod reports;
pub mod status;
#[cfg(test)]
mod tests;
pub mod view;
#[cfg(test)]
mod walks;
pub mod work;

use std::collections::BTreeMap;

use crypto::seal::Sealed;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;
use uuid::Uuid;
use wire::clock::{Millis, after};
use wire::id::{EmailId, UserId};

pub use stage::{Failure, Rendered, SkippedReason, Stage};

use crate::code::Purpose;
use crate::document::theme::DEFAULT_THEME;
use crate::email::Email;
use crate::email::category::Category;
use crate::outbox::status::Status;
use crate::team::invitation;

/// How long a worker may take to render before another one may start again.
pub const RENDERING_LEASE: SignedDuration = SignedDuration::from_mins(1);
/// How long a worker may take to send before the outcome counts as unknown.
pub const SENDING_LEASE: SignedDuration = SignedDuration::from_mins(20);
/// How often sending is tried.
pub const MAX_ATTEMPTS: u32 = 5;

/// An entry of the outbox, as the table holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OutboxEntry {
    pub id: EmailId,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub created_at: Timestamp,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub updated_at: Timestamp,
    pub to: Recipients,
    pub source: Source,
    #[serde(default, with = "crate::text::json")]
    pub variables: Map<String, Value>,
    /// Of a mail with codes: those variables that carry one, each sealed, until the mail has gone out. Absent from other mails, and from
    /// those of the version before. See [`outbox_codes`](crate::outbox::codes).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codes: Option<BTreeMap<String, Sealed>>,
    pub category: Category,
    pub is_high_priority: bool,
    /// Of a mail with codes: whether nobody has proved yet that its address is theirs. Known when it is rendered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_to_stranger: bool,
    pub created_with: CreatedWith,
    #[serde(default)]
    pub skip_deliverability_check: bool,
    #[serde(with = "jiff::fmt::serde::timestamp::millisecond::required")]
    pub scheduled_at: Timestamp,
    pub is_paused: bool,
    pub stage: Stage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<Rendered>,
    /// Failed attempts to send, oldest first.
    #[serde(default)]
    pub failures: Vec<Failure>,
    #[serde(default, with = "jiff::fmt::serde::timestamp::millisecond::optional", skip_serializing_if = "Option::is_none")]
    pub next_retry_at: Option<Timestamp>,
}

/// Who a mail goes to; addresses of users are looked up when it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema, deserr::Deserr)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[deserr(tag = "type", deny_unknown_fields)]
pub enum Recipients {
    #[deserr(rename = "user-primary-email")]
    UserPrimaryEmail { user_id: UserId },
    #[deserr(rename = "user-custom-emails")]
    UserCustomEmails { user_id: UserId, emails: Vec<Email> },
    #[deserr(rename = "custom-emails")]
    CustomEmails { emails: Vec<Email> },
}

impl Recipients {
    pub fn user_id(&self) -> Option<UserId> {
        match self {
            Self::UserPrimaryEmail { user_id } | Self::UserCustomEmails { user_id, .. } => Some(*user_id),
            Self::CustomEmails { .. } => None,
        }
    }
}

/// What a mail is made from: MiniJinja sources, or those of a built-in mail where they are absent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<Builtin>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::packed")]
    pub html: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::text::packed")]
    pub text: Option<String>,
    /// Absent: the mail has no theme.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme_id: Option<Uuid>,
    /// The template or draft that the sources were copied from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub template_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft_id: Option<Uuid>,
}

impl Source {
    pub fn builtin(mail: Builtin) -> Self {
        Self { builtin: Some(mail), theme_id: Some(DEFAULT_THEME), ..Self::default() }
    }
}

/// A mail that the service itself sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Builtin {
    VerifyEmail,
    SignIn,
    ResetPassword,
    TeamInvitation,
    /// Tells of a sign-in from a place that the account was not used at before.
    NewSignIn,
    /// Tells an address that it owns an account which somebody else had made with it.
    AccountClaimed,
    /// Tells that wrong passwords have closed the account to passwords.
    PasswordClosed,
    /// Tells of a change of how a user signs in.
    AccountChanged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CreatedWith {
    Draft,
    ProgrammaticCall,
}

/// What a new entry is made of.
#[derive(Debug, Clone)]
pub struct NewEntry {
    pub to: Recipients,
    pub source: Source,
    pub variables: Map<String, Value>,
    pub category: Category,
    pub is_high_priority: bool,
    pub created_with: CreatedWith,
    pub scheduled_at: Option<Timestamp>,
}

impl OutboxEntry {
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

    /// Who comes first in the queue of a project: the greater number.
    pub fn priority(&self) -> u8 {
        (if self.is_high_priority { 100 } else { 0 }) + (if self.category == Category::Transactional { 10 } else { 0 })
    }

    /// Until when a mail of the service with a code is of use.
    pub fn expires_at(&self) -> Option<Timestamp> {
        let life = match self.source.builtin? {
            Builtin::VerifyEmail => Purpose::VerifyEmail.life(),
            Builtin::SignIn => Purpose::SignIn.life(),
            Builtin::ResetPassword => Purpose::ResetPassword.life(),
            Builtin::TeamInvitation => invitation::LIFE,
            Builtin::NewSignIn | Builtin::AccountClaimed | Builtin::PasswordClosed | Builtin::AccountChanged => return None,
        };
        self.codes.is_some().then(|| after(self.created_at, life))
    }

    /// When a worker has something to do with the entry; never for one that is paused or at its end.
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
