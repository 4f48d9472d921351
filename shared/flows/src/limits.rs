//! How requests are counted, and what a refused one is told.
//!
//! What is counted by who sends a request is counted where the request proves its access, at the same time as the table is read for the
//! proof: no operation can forget it, and it costs no round trip. Nothing is counted for a project or a key that nobody has seen: those
//! are counted after the proof, until the process remembers them ([`crate::memory`]). The servers of a project are counted together after
//! the proof; otherwise anybody could use up what belongs to them. Who proves nothing is counted by the address ([`unproved`]). What only
//! the operation knows, it counts itself: the account whose password is guessed ([`Failures`]), the refresh token ([`token`]), and the
//! recipient of a mail, in the transaction that writes the mail ([`crate::email::code`]).

use std::sync::OnceLock;

use futures_util::future::try_join_all;
use model::email::Email;
use model::limit::{By, Counter, Limit, Rule, Subject};
use model::place::Place;
use model::user::User;
use secrecy::SecretString;
use store::limit::{self, Window, judge};
use store::{Items, Key, Write};
use wire::id::{ProjectId, UserId};
use wire::level::Level;

use crate::app::App;
use crate::context::Context;

/// Who sends a request, by what it claims and before anything is proved.
pub struct Claimed<'a> {
    pub limit: Option<Limit>,
    pub level: Level,
    pub project: &'a ProjectId,
    pub user: Option<UserId>,
    /// Of the admin access token.
    pub owner: Option<UserId>,
    pub key: Option<&'a SecretString>,
    pub place: &'a Place,
}

impl<'a> Claimed<'a> {
    /// What is counted of the request: by what nobody but the sender loses when it claims falsely beside the proof, and by what belongs to
    /// all who can prove it afterwards.
    pub fn counting(&self, app: &'a App) -> Counting<'a> {
        let rules = self.limit.map_or(&[][..], |limit| limit.of_request(self.level == Level::Client));
        let mut counting = Counting { app, project: self.project, counters: Vec::new(), proved_by: None, is_after_proof: false };
        for (rule, by) in rules {
            let subject = match by {
                By::Address => Subject::address(self.place.ip),
                By::Network => Subject::network(self.place.ip),
                By::Caller => {
                    let (subject, proved_by) = self.caller();
                    counting.proved_by = proved_by;
                    subject
                }
                By::Project => {
                    counting.is_after_proof = true;
                    Subject::project()
                }
            };
            counting.counters.extend(app.settings.limits.counter(*rule, &subject, app.clock.now()));
        }
        counting
    }

    /// Whom it is counted by, and the key that has to be one for that.
    fn caller(&self) -> (Subject, Option<Subject>) {
        match (self.level, self.user, self.owner, self.key) {
            (Level::Client, Some(user), ..) => (Subject::user(user), None),
            (Level::Server | Level::Admin, _, Some(owner), _) => (Subject::user(owner), None),
            (Level::Server | Level::Admin, _, None, Some(key)) => (Subject::secret(key), Some(Subject::secret(key))),
            _ => (Subject::address(self.place.ip), None),
        }
    }
}

/// A request that is counted while what it claims is looked up.
pub struct Counting<'a> {
    app: &'a App,
    project: &'a ProjectId,
    counters: Vec<Counter>,
    /// The key that it is counted by.
    proved_by: Option<Subject>,
    is_after_proof: bool,
}

/// What has been counted beside a look at the table: by each counter, or nothing yet.
#[derive(Debug)]
#[must_use]
pub struct Early(Option<Vec<u32>>);

impl<'a> Counting<'a> {
    /// Counts by the address, for an operation that takes no [`api::product::Access`].
    pub fn by_address(app: &'a App, project: &'a ProjectId, rule: Rule, place: &Place) -> Self {
        let counter = app.settings.limits.counter(rule, &Subject::address(place.ip), app.clock.now());
        Self { app, project, counters: counter.into_iter().collect(), proved_by: None, is_after_proof: false }
    }

    /// What is to be read before [`Self::settle`].
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        self.counters.iter().map(|counter| limit::key_before(self.project, counter))
    }

    /// Counts beside the look at the table, where all that it is counted by is known to be there.
    pub async fn early(&self) -> Result<Early, store::Error> {
        for counter in &self.counters {
            if let Some(refusal) = self.app.memory.refusal(self.project, counter) {
                return Err(store::Error::Limited(refusal));
            }
        }
        if self.is_after_proof || !self.is_known() {
            return Ok(Early(None));
        }
        Ok(Early(Some(self.count().await?)))
    }

    /// Counts what is not counted yet, once everything is proved, and decides.
    pub async fn settle(&self, early: Early, items: &Items) -> Result<(), store::Error> {
        self.remember();
        let counted = match early.0 {
            Some(counted) => counted,
            None => self.count().await?,
        };
        for (counter, counted) in self.counters.iter().zip(counted) {
            let before = limit::counted(items.get(&limit::key_before(self.project, counter)).as_ref());
            self.told(counter, judge(counter, before, counted))?;
        }
        Ok(())
    }

    async fn count(&self) -> Result<Vec<u32>, store::Error> {
        let count = async |counter| self.told(counter, self.app.store.count_alone(self.project, counter).await);
        try_join_all(self.counters.iter().map(count)).await
    }

    /// Remembers what was refused.
    fn told<T>(&self, counter: &Counter, result: Result<T, store::Error>) -> Result<T, store::Error> {
        if let Err(store::Error::Limited(refusal)) = &result {
            self.app.memory.refused(self.project, counter, *refusal);
        }
        result
    }

    fn is_known(&self) -> bool {
        let key = self.key_name();
        self.app.memory.has_seen(self.project.as_str()) && key.is_none_or(|name| self.app.memory.has_seen(&name))
    }

    fn remember(&self) {
        self.app.memory.saw(self.project.as_str());
        if let Some(name) = self.key_name() {
            self.app.memory.saw(&name);
        }
    }

    fn key_name(&self) -> Option<String> {
        self.proved_by.as_ref().map(|key| format!("{}#{key}", self.project))
    }
}

/// Counts by a secret that only its owner has, and that there is.
pub async fn by_secret(app: &App, project: &ProjectId, rule: Rule, secret: &SecretString) -> Result<(), store::Error> {
    match app.settings.limits.counter(rule, &Subject::secret(secret), app.clock.now()) {
        Some(counter) => app.store.count(project, &counter).await,
        None => Ok(()),
    }
}

/// Counts a request that proves nothing, or names what does not exist, by its address. In the table of a project that there is; otherwise
/// in the memory of this process: what nobody has made leaves nothing behind.
pub async fn unproved(app: &App, project: Option<&ProjectId>, place: &Place) -> Result<(), store::Error> {
    unknown(app, project, Rule::Unproved, place).await
}

/// Counts a refresh token or an authorization code that is not known, by the address: those who make them up leave no item for each.
pub async fn unknown_token(app: &App, project: &ProjectId, place: &Place) -> Result<(), store::Error> {
    unknown(app, Some(project), Rule::TokenUnknown, place).await
}

async fn unknown(app: &App, project: Option<&ProjectId>, rule: Rule, place: &Place) -> Result<(), store::Error> {
    let Some(counter) = app.settings.limits.counter(rule, &Subject::address(place.ip), app.clock.now()) else { return Ok(()) };
    let Some(project) = project else { return app.memory.count(&counter).map_err(store::Error::Limited) };
    if let Some(refusal) = app.memory.refusal(project, &counter) {
        return Err(store::Error::Limited(refusal));
    }
    let counted = app.store.count(project, &counter).await;
    if let Err(store::Error::Limited(refusal)) = &counted {
        app.memory.refused(project, &counter, *refusal);
    }
    counted
}

/// Counts a mail with a code to a recipient, in the transaction that writes it. Costs a read, which is among the first where the body
/// of the request names the recipient.
pub async fn recipient(context: &Context, email: &Email) -> Result<Option<Write>, store::Error> {
    let project = &context.project.id;
    let Some(counter) = recipient_counter(&context.app, context.level, email) else { return Ok(None) };
    Ok(Some(context.prefetched.window(project, &counter).await?.count(project)))
}

/// The key that [`recipient`] reads.
pub fn recipient_key(app: &App, project: &ProjectId, level: Level, email: &Email) -> Option<Key> {
    Some(limit::key_before(project, &recipient_counter(app, level, email)?))
}

/// How many a recipient may get depends on the access by which they are asked for.
fn recipient_counter(app: &App, level: Level, email: &Email) -> Option<Counter> {
    let rule = if level == Level::Client { Rule::SendCodeRecipient } else { Rule::SendCodeRecipientServer };
    app.settings.limits.counter(rule, &Subject::email(&email.mailbox()), app.clock.now())
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
    /// With what the window before has counted, once it is read.
    window: OnceLock<Window>,
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
        Self { app, project, subject, counter, window: OnceLock::new() }
    }

    /// Refuses before a password is looked at; costs a read.
    pub async fn check(&self) -> Result<(), store::Error> {
        let Some(counter) = &self.counter else { return Ok(()) };
        let window = self.app.store.check_limit(self.project, counter).await?;
        self.window.set(window).ok();
        Ok(())
    }

    /// Reads what the window before has counted, for what is counted without being checked; costs a read.
    pub async fn look(&self) -> Result<(), store::Error> {
        let Some(counter) = &self.counter else { return Ok(()) };
        self.window.set(self.app.store.window(self.project, counter).await?).ok();
        Ok(())
    }

    /// Counts a wrong password; refused when it is one too many, so that it is not known to be wrong.
    pub async fn count(&self) -> Result<(), store::Error> {
        match self.window() {
            Some(window) => self.app.store.write_unrecorded(window.count(self.project)).await,
            None => Ok(()),
        }
    }

    /// The window, alone when nobody has read the one before it.
    fn window(&self) -> Option<&Window> {
        let counter = self.counter.as_ref()?;
        Some(self.window.get_or_init(|| Window::alone(counter)))
    }

    /// Writes as much as [`Store::count_wrong_password`](store::Store::count_wrong_password),
    /// for an address that nobody signs in with.
    pub async fn count_nobody(&self) -> Result<(), store::Error> {
        self.app.store.write_unrecorded(limit::count_nobody(self.project, &self.subject, self.app.clock.now())).await
    }

    /// Goes into the transaction that proves in another way who is there: what strangers guessed does
    /// not count any more.
    pub fn forget(&self) -> impl Iterator<Item = Write> + use<> {
        self.counter.as_ref().map(|counter| limit::forget(self.project, counter)).into_iter().flatten()
    }

    /// Goes into the transaction that a right password leads to.
    pub fn still_allowed(&self) -> Option<Write> {
        self.window().map(|window| window.check(self.project))
    }
}
