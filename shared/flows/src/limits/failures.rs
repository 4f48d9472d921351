//! Wrong passwords for an account, and wrong codes of its second factor.

use std::sync::OnceLock;

use model::email::any::AnyEmail;
use model::limit::{Counter, Rule, Subject};
use store::Write;
use store::limit::{self, Window};
use wire::id::{ProjectId, UserId};

use crate::app::App;

/// The count of wrong passwords for an account, or of wrong codes of its second factor.
///
/// A wrong password is counted once it is known to be wrong, and a correct one is accepted on the
/// condition that the limit is not reached. So concurrent guesses do not reveal more than the limit
/// permits, and an owner who knows the password does not use up attempts. Passwords at sign-in are
/// counted by the given email address, so an account that does not exist looks like one that does.
pub struct Failures<'a> {
    app: &'a App,
    project: &'a ProjectId,
    subject: Subject,
    counter: Option<Counter>,
    /// The counter with the previous window's count, which is zero if it was not read before the
    /// first use.
    window: OnceLock<Window>,
}

impl<'a> Failures<'a> {
    /// The count of wrong passwords at sign-in.
    pub fn for_email(app: &'a App, project: &'a ProjectId, email: &str) -> Self {
        let normalised = AnyEmail::parse(email).map_or_else(|_| email.trim().to_lowercase(), |email| email.to_string());
        Self::by(app, project, Subject::email(&normalised))
    }

    /// The count of a signed-in user's wrong passwords when changing the password or
    /// reauthenticating. It is separate, so that strangers who guess at sign-in cannot keep the
    /// owner from changing the password.
    pub fn for_old_password(app: &'a App, project: &'a ProjectId, user: UserId) -> Self {
        Self::by(app, project, Subject::proof("old-password", user))
    }

    /// The count of wrong codes of the second factor.
    pub fn for_second_factor(app: &'a App, project: &'a ProjectId, user: UserId) -> Self {
        Self::by(app, project, Subject::proof("second-factor", user))
    }

    fn by(app: &'a App, project: &'a ProjectId, subject: Subject) -> Self {
        let counter = app.settings.limits.counter(Rule::SignInFailures, &subject, app.clock.now());
        Self { app, project, subject, counter, window: OnceLock::new() }
    }

    /// Fails if the limit is reached, before a password or code is checked. Costs two units to
    /// read.
    pub async fn check(&self) -> Result<(), store::Error> {
        let Some(counter) = &self.counter else { return Ok(()) };
        let window = self.app.store.check_limit(self.project, counter).await?;
        self.window.set(window).ok();
        Ok(())
    }

    /// Reads the count of the previous window, without checking the limit. Costs one unit to read.
    pub async fn look(&self) -> Result<(), store::Error> {
        let Some(counter) = &self.counter else { return Ok(()) };
        self.window.set(self.app.store.window(self.project, counter).await?).ok();
        Ok(())
    }

    /// Counts a wrong password or code. Fails with the error of the rate limit if the limit is
    /// exceeded, so that the caller does not learn that the password or code is wrong.
    pub async fn count(&self) -> Result<(), store::Error> {
        match self.window() {
            Some(window) => self.app.store.write_unrecorded(window.count(self.project)).await,
            None => Ok(()),
        }
    }

    /// The window; its previous count is zero if that count was not read. `None` if the limit is
    /// off.
    fn window(&self) -> Option<&Window> {
        let counter = self.counter.as_ref()?;
        Some(self.window.get_or_init(|| Window::alone(counter)))
    }

    /// For an email address that nobody signs in with: writes something in place of
    /// [`Store::count_wrong_password`](store::Store::count_wrong_password), so that the response
    /// takes about as long as for an address in use.
    pub async fn count_nobody(&self) -> Result<(), store::Error> {
        self.app.store.write_unrecorded(limit::count_nobody(self.project, &self.subject, self.app.clock.now())).await
    }

    /// The writes that reset the count, for the transaction of a password reset: guesses of the old
    /// password no longer count.
    pub fn forget(&self) -> impl Iterator<Item = Write> + use<> {
        self.counter.as_ref().map(|counter| limit::forget(self.project, counter)).into_iter().flatten()
    }

    /// The write that checks the limit, for the transaction after a correct password or code;
    /// `None` if the limit is off.
    pub fn still_allowed(&self) -> Option<Write> {
        self.window().map(|window| window.check(self.project))
    }
}
