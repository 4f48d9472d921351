//! How requests are counted, and what a refused one is told.
//!
//! What is counted by who sends a request is counted where the request proves its access, at the same time as the table is read for the
//! proof: no operation can forget it, and it costs no round trip. The servers of a project are counted together after the proof;
//! otherwise anybody could use up what belongs to them. What only the operation knows, it counts itself: the account whose password is
//! guessed ([`Failures`]), the refresh token ([`by_secret`]), and the recipient of a mail, in the transaction that writes the mail
//! ([`crate::mail::code`]).

use http::{HeaderMap, HeaderName, HeaderValue, header};
use secrecy::SecretString;

use super::access::Level;
use crate::App;
use crate::model::email::Email;
use crate::model::id::{ProjectId, UserId};
use crate::model::limit::{By, Counter, Limit, Refused, Rule, Subject};
use crate::model::place::Place;
use crate::model::user::User;
use crate::store::{self, Write, limits};

/// Who sends a request, by what it claims and before anything is proved.
pub(super) struct Claimed<'a> {
    pub(super) limit: Option<Limit>,
    pub(super) level: Level,
    pub(super) project: &'a ProjectId,
    pub(super) user: Option<UserId>,
    /// Of the admin access token.
    pub(super) owner: Option<UserId>,
    pub(super) key: Option<&'a SecretString>,
    pub(super) place: &'a Place,
}

impl Claimed<'_> {
    fn rule(&self) -> Option<(Rule, By)> {
        self.limit?.of_request(self.level == Level::Client)
    }

    /// Counts by what nobody but the sender loses when it claims falsely. Runs beside the proof.
    pub(super) async fn count(&self, app: &App) -> Result<(), store::Error> {
        let subject = match self.rule() {
            Some((_, By::Address)) => Subject::address(self.place.ip),
            Some((_, By::Caller)) => self.caller(),
            Some((_, By::Project)) | None => return Ok(()),
        };
        self.count_by(app, &subject).await
    }

    /// Counts by what belongs to all who can prove it. Runs after the proof.
    pub(super) async fn count_proved(&self, app: &App) -> Result<(), store::Error> {
        match self.rule() {
            Some((_, By::Project)) => self.count_by(app, &Subject::project()).await,
            _ => Ok(()),
        }
    }

    async fn count_by(&self, app: &App, subject: &Subject) -> Result<(), store::Error> {
        let Some((rule, _)) = self.rule() else { return Ok(()) };
        count(app, self.project, rule, subject).await
    }

    fn caller(&self) -> Subject {
        match (self.level, self.user, self.owner, self.key) {
            (Level::Client, Some(user), ..) => Subject::user(user),
            (Level::Server | Level::Admin, _, Some(owner), _) => Subject::user(owner),
            (Level::Server | Level::Admin, _, None, Some(key)) => Subject::secret(key),
            _ => Subject::address(self.place.ip),
        }
    }
}

async fn count(app: &App, project: &ProjectId, rule: Rule, subject: &Subject) -> Result<(), store::Error> {
    match app.settings.limits.counter(rule, subject, app.clock.now()) {
        Some(counter) => app.store.count(project, &counter).await,
        None => Ok(()),
    }
}

/// Counts by the address, for an operation that takes no [`super::Access`].
pub async fn by_address(app: &App, project: &ProjectId, rule: Rule, place: &Place) -> Result<(), store::Error> {
    count(app, project, rule, &Subject::address(place.ip)).await
}

/// Counts by a secret that only its owner has.
pub async fn by_secret(app: &App, project: &ProjectId, rule: Rule, secret: &SecretString) -> Result<(), store::Error> {
    count(app, project, rule, &Subject::secret(secret)).await
}

/// Counts a mail with a code to a recipient, in the transaction that writes it.
pub fn recipient(app: &App, project: &ProjectId, level: Level, email: &Email) -> Option<Write> {
    let rule = if level == Level::Client { Rule::SendCodeRecipient } else { Rule::SendCodeRecipientServer };
    let counter = app.settings.limits.counter(rule, &Subject::email(email.as_str()), app.clock.now())?;
    Some(limits::count(project, &counter))
}

/// The counters of a change by which a user ends its codes, for those of its addresses that nobody has proved. Whoever made an account
/// with somebody else's address must not end each code before its owner gets to use it.
pub fn ended_codes(app: &App, user: &User) -> impl Iterator<Item = Counter> {
    user.unproved().filter_map(|email| app.settings.limits.ended_codes(email, app.clock.now()))
}

/// Wrong passwords for one account.
///
/// A wrong password is counted when it is known to be wrong; a right one is let in on the condition that the limit is not reached then.
/// However many guesses come at once, no more are told apart than the limit lets through, and those who know the password use up
/// nothing. Counted by what was given as the address, so that an account that does not exist looks like one that does.
pub struct Failures<'a> {
    app: &'a App,
    project: &'a ProjectId,
    subject: Subject,
    counter: Option<Counter>,
}

impl<'a> Failures<'a> {
    /// Of passwords at sign-in.
    pub fn of(app: &'a App, project: &'a ProjectId, email: &str) -> Self {
        let normalised = Email::parse(email).map_or_else(|_| email.trim().to_lowercase(), |email| email.to_string());
        Self::by(app, project, Subject::email(&normalised))
    }

    /// Of the old password that somebody who is signed in gives. Strangers who guess at sign-in must
    /// not keep its owner from changing it.
    pub fn of_old_password(app: &'a App, project: &'a ProjectId, user: UserId) -> Self {
        Self::by(app, project, Subject::proof("old-password", user))
    }

    /// Of codes of the second factor.
    pub fn of_second_factor(app: &'a App, project: &'a ProjectId, user: UserId) -> Self {
        Self::by(app, project, Subject::proof("second-factor", user))
    }

    fn by(app: &'a App, project: &'a ProjectId, subject: Subject) -> Self {
        let counter = app.settings.limits.counter(Rule::SignInFailures, &subject, app.clock.now());
        Self { app, project, subject, counter }
    }

    /// Refuses before a password is looked at; costs a read.
    pub async fn check(&self) -> Result<(), store::Error> {
        match &self.counter {
            Some(counter) => self.app.store.check_limit(self.project, counter).await,
            None => Ok(()),
        }
    }

    /// Counts a wrong password; refused when it is one too many, so that it is not known to be wrong.
    pub async fn count(&self) -> Result<(), store::Error> {
        match &self.counter {
            Some(counter) => self.app.store.count(self.project, counter).await,
            None => Ok(()),
        }
    }

    /// Writes as much as [`Store::count_wrong_password`](crate::store::Store::count_wrong_password),
    /// for an address that nobody signs in with.
    pub async fn count_nobody(&self) -> Result<(), store::Error> {
        self.app.store.write_unrecorded(limits::count_nobody(self.project, &self.subject, self.app.clock.now())).await
    }

    /// Goes into the transaction that proves in another way who is there: what strangers guessed does
    /// not count any more.
    pub fn forget(&self) -> Option<Write> {
        self.counter.as_ref().map(|counter| limits::forget(self.project, counter))
    }

    /// Goes into the transaction that a right password leads to.
    pub fn still_allowed(&self) -> Option<Write> {
        self.counter.as_ref().map(|counter| limits::check(self.project, counter))
    }
}

/// `Retry-After` (RFC 9110 §10.2.3), and the fields of draft-ietf-httpapi-ratelimit-headers: which policy, and that nothing is left.
pub(super) fn describe(refused: &Refused, headers: &mut HeaderMap) {
    let Refused { limit, retry_after_seconds, quota, window } = refused;
    for (name, value) in [
        (header::RETRY_AFTER, retry_after_seconds.to_string()),
        (HeaderName::from_static("ratelimit-policy"), format!("\"{limit}\";q={quota};w={window}")),
        (HeaderName::from_static("ratelimit"), format!("\"{limit}\";r=0;t={retry_after_seconds}")),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(name, value);
        }
    }
}
