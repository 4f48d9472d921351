//! Emails with codes, and the email that tells the owner of an address that an account now belongs
//! to them. A code is written together with the outbox entry that contains the code. The
//! recipient's counts are also written ([`gate`]), except for the email of [`CodeEmail::reset`].

use jiff::Timestamp;
use model::code::{Code, Purpose, StoredCode};
use model::document::builtin::Builtin;
use model::email::Email;
use model::outbox::codes::{CodeVariable, LINK, NOT_ME_LINK, OTP};
use model::outbox::{NewEntry, OutboxEntry, Recipients, Source};
use model::project::redirect::RedirectUrl;
use model::user::{Channel, User};
use serde_json::{Map, json};
use store::link::{Link, Release};
use store::{Write, code};
use wire::clock::after;
use wire::id::ProjectId;

use crate::app::App;
use crate::email::gate::{self, Address, Cause, RecipientCounts};
use crate::email::sealed;

/// The path of the link in a verification email that releases the recipient's address.
pub const RELEASE_PATH: &str = "/api/v1/contact-channels/release-link";

/// The values needed to write an email with a code. The email's main link is `callback` with the
/// query parameter `code`.
pub struct CodeEmail<'a> {
    /// The app.
    pub app: &'a App,
    /// The project.
    pub project: &'a ProjectId,
    /// The page of the project's app that the link opens.
    pub callback: &'a RedirectUrl,
    /// The current time.
    pub now: Timestamp,
}

impl CodeEmail<'_> {
    /// A new code, with the writes that create the code and queue the email with its link.
    pub fn writes(&self, recipient: RecipientCounts, stored: &StoredCode, mail: Builtin) -> Result<(Code, Vec<Write>), store::Error> {
        let (code, entry) = self.code_and_entry(stored, mail, None)?;
        let writes = self.with_email(stored, &code, recipient.queue(self.project, &entry, stored.user_id)?)?;
        Ok((code, writes))
    }

    /// The writes that store a code to reset the password of `user`, and queue the email with the
    /// code. The owner has requested the code through a link in an earlier email to `email`.
    pub fn reset(&self, user: &User, email: &Email) -> Result<Vec<Write>, store::Error> {
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
        self.with_email(&stored, &code, RecipientCounts::by_link().queue(self.project, &entry, None)?)
    }

    /// Writes that look and cost like [`Self::writes`], but do not send an email, so nobody
    /// receives the code. For responses that must not reveal whether an account exists.
    pub fn decoys(&self, recipient: RecipientCounts, stored: &StoredCode, mail: Builtin) -> Result<Vec<Write>, store::Error> {
        let (code, entry) = self.code_and_entry(stored, mail, None)?;
        self.with_email(stored, &code, recipient.decoy(self.project, &entry, self.now)?)
    }

    /// The writes that store the code and queue its email.
    fn with_email(&self, stored: &StoredCode, code: &Code, mail: Vec<Write>) -> Result<Vec<Write>, store::Error> {
        Ok([code::create(self.project, code, stored)?].into_iter().chain(mail).collect())
    }

    fn code_and_entry(&self, stored: &StoredCode, mail: Builtin, more: Option<CodeVariable>) -> Result<(Code, OutboxEntry), store::Error> {
        let code = Code::new(self.app.entropy.code());
        let link = CodeVariable::link(LINK, self.callback.with_query("code", code.text()), &code);
        let otp = CodeVariable::typed(OTP, &code);
        let emails = vec![stored.email.clone()];
        let to = match stored.user_id {
            Some(user_id) => Recipients::UserCustomEmails { user_id, emails },
            None => Recipients::CustomEmails { emails },
        };
        let new = NewEntry::urgent(to, Source::builtin(mail), Map::from_iter([("email".to_owned(), json!(stored.email))]));
        let entry = sealed::entry(self.app, self.project, new, [link, otp].into_iter().chain(more), self.now)?;
        Ok((code, entry))
    }

    /// The writes that store a code to verify a user's email address, and queue the email with the
    /// code. A second link in the email lets a recipient who did not create the account release the
    /// address.
    pub fn verification(&self, recipient: RecipientCounts, user: &User, channel: &Channel) -> Result<Vec<Write>, store::Error> {
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
        let not_me = CodeVariable::link(NOT_ME_LINK, url, &release);
        let (code, entry) = self.code_and_entry(&stored, Builtin::VerifyEmail, Some(not_me))?;
        let mut writes = self.with_email(&stored, &code, recipient.queue(self.project, &entry, Some(user.id))?)?;
        writes.push(link.create(&release)?);
        Ok(writes)
    }
}

/// The write that queues the email telling the owner of an email address that the account now
/// belongs to them; `None` if the user does not have a primary address.
pub fn account_claimed(app: &App, project: &ProjectId, user: &User) -> Result<Option<Write>, store::Error> {
    let Some(channel) = user.primary() else { return Ok(None) };
    let to = Recipients::UserCustomEmails { user_id: user.id, emails: vec![channel.value.clone()] };
    let variables = [("email".to_owned(), json!(channel.value)), ("has_password".to_owned(), json!(user.password.is_some()))];
    let new = NewEntry::urgent(to, Source::builtin(Builtin::AccountClaimed), Map::from_iter(variables));
    gate::notice(app, project, Cause { address: Address::of(user, &channel.value), place: None }, new).map(Some)
}
