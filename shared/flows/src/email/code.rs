//! Mails that carry a code: the code, and the entry of the outbox that takes it to its recipient, written together. The recipient is
//! counted in the same transaction ([`crate::limits::recipient`]), so nothing mails a code uncounted.

use jiff::Timestamp;
use model::code::{Code, Purpose, StoredCode};
use model::email::Email;
use model::email::category::Category;
use model::outbox::codes::{Coded, LINK, NOT_ME_LINK, OTP};
use model::outbox::{Builtin, CreatedWith, NewEntry, OutboxEntry, Recipients, Source};
use model::project::redirect::RedirectUrl;
use model::user::{Channel, User};
use serde_json::{Map, json};
use store::link::{Link, Release};
use store::{Write, code, outbox};
use wire::clock::after;
use wire::id::{EmailId, ProjectId};

use crate::app::App;
use crate::email::sealed;

/// Where the link of a verification email leads that releases the address.
pub const RELEASE_PATH: &str = "/api/v1/contact-channels/release-link";

/// An email with a code that is about to be written. Its link is `callback` with the query parameter `code`.
pub struct CodeEmail<'a> {
    pub app: &'a App,
    pub project: &'a ProjectId,
    pub callback: &'a RedirectUrl,
    pub now: Timestamp,
}

impl CodeEmail<'_> {
    /// Writes a new code and the email with its link. `recipient` counts it.
    pub fn writes(&self, recipient: Option<Write>, stored: &StoredCode, mail: Builtin) -> Result<(Code, Vec<Write>), store::Error> {
        let (code, entry) = self.code_and_entry(stored, mail, None)?;
        let mail = outbox::create(self.project, &entry)?.about(stored.user_id);
        let writes = self.with_email(recipient, stored, &code, mail)?;
        Ok((code, writes))
    }

    /// Writes a code that resets the password of `user`, as its owner asked for by a link of an email to `email`. Recipients are not counted:
    /// the link works once, and whoever uses up what the owner may get must not keep them out.
    pub fn reset(&self, user: &User, email: &Email) -> Result<[Write; 2], store::Error> {
        let stored = StoredCode {
            purpose: Purpose::ResetPassword,
            email: email.clone(),
            user_id: Some(user.id),
            channel_id: None,
            expires_at: after(self.now, Purpose::ResetPassword.life()),
            used: false,
            epoch: user.credential_epoch,
        };
        let (code, entry) = self.code_and_entry(&stored, Builtin::ResetPassword, None)?;
        Ok([code::create(self.project, &code, &stored)?, outbox::create(self.project, &entry)?])
    }

    /// Writes what looks and costs like [`Self::writes`] and mails nothing: a code that nobody gets. For recipients who must not be told apart.
    pub fn decoys(&self, recipient: Option<Write>, stored: &StoredCode, mail: Builtin) -> Result<Vec<Write>, store::Error> {
        let (code, entry) = self.code_and_entry(stored, mail, None)?;
        self.with_email(recipient, stored, &code, outbox::create_decoy(self.project, &entry, self.now)?)
    }

    /// The code, its mail, and the count of its recipient.
    fn with_email(&self, recipient: Option<Write>, stored: &StoredCode, code: &Code, mail: Write) -> Result<Vec<Write>, store::Error> {
        Ok([code::create(self.project, code, stored)?, mail].into_iter().chain(recipient).collect())
    }

    fn code_and_entry(&self, stored: &StoredCode, mail: Builtin, more: Option<Coded>) -> Result<(Code, OutboxEntry), store::Error> {
        let code = Code::new(self.app.entropy.code());
        let link = Coded::link(LINK, self.callback.with_query("code", code.text()), &code);
        let otp = Coded::typed(OTP, &code);
        let emails = vec![stored.email.clone()];
        let to = match stored.user_id {
            Some(user_id) => Recipients::UserCustomEmails { user_id, emails },
            None => Recipients::CustomEmails { emails },
        };
        let new = NewEntry {
            to,
            source: Source::builtin(mail),
            variables: Map::from_iter([("email".to_owned(), json!(stored.email))]),
            category: Category::Transactional,
            is_high_priority: true,
            created_with: CreatedWith::ProgrammaticCall,
            scheduled_at: None,
        };
        let entry = sealed::entry(self.app, self.project, new, [link, otp].into_iter().chain(more), self.now)?;
        Ok((code, entry))
    }

    /// Writes a code that verifies an address of a user, and its email, with a link for whoever has no such account.
    pub fn verification(&self, recipient: Option<Write>, user: &User, channel: &Channel) -> Result<Vec<Write>, store::Error> {
        let stored = StoredCode {
            purpose: Purpose::VerifyEmail,
            email: channel.value.clone(),
            user_id: Some(user.id),
            channel_id: Some(channel.id),
            expires_at: after(self.now, Purpose::VerifyEmail.life()),
            used: false,
            epoch: user.credential_epoch,
        };
        let release = Code::new(self.app.entropy.code());
        let link = Link::new(self.project, user.id, Release { channel_id: channel.id, email: channel.value.clone() }, self.now);
        let url = format!("{}{RELEASE_PATH}?code={}", self.app.settings.api_url, release.text());
        let not_me = Coded::link(NOT_ME_LINK, url, &release);
        let (code, entry) = self.code_and_entry(&stored, Builtin::VerifyEmail, Some(not_me))?;
        let mut writes = self.with_email(recipient, &stored, &code, outbox::create(self.project, &entry)?.about(user.id))?;
        writes.push(link.create(&release)?);
        Ok(writes)
    }
}

/// The email that tells an address of the account that it has just become the owner of.
pub fn account_claimed(app: &App, project: &ProjectId, user: &User, now: Timestamp) -> Result<Option<Write>, store::Error> {
    let Some(channel) = user.primary() else { return Ok(None) };
    let new = NewEntry {
        to: Recipients::UserCustomEmails { user_id: user.id, emails: vec![channel.value.clone()] },
        source: Source::builtin(Builtin::AccountClaimed),
        variables: Map::from_iter([
            ("email".to_owned(), json!(channel.value)),
            ("has_password".to_owned(), json!(user.password.is_some())),
        ]),
        category: Category::Transactional,
        is_high_priority: true,
        created_with: CreatedWith::ProgrammaticCall,
        scheduled_at: None,
    };
    outbox::create(project, &OutboxEntry::new(EmailId::from(app.entropy.uuid()), new, now)).map(Some)
}
