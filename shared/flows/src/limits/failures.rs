//! Counts of wrong passwords for an account, and of wrong codes of its second factor.

use model::email::any::AnyEmail;
use model::limit::{Counter, Rule, Subject};
use store::Write;
use store::limit;
use tokio::sync::OwnedSemaphorePermit;
use wire::id::{ProjectId, UserId};

use crate::app::App;

/// The count of wrong passwords for an account, or of wrong codes of its second factor.
///
/// An attempt is counted before it is checked, and the count of a correct attempt is taken back.
/// Concurrent guesses therefore do not reveal more than the limit permits, and an owner who knows
/// the password does not use up attempts. If the process ends before it has taken back the count,
/// the correct attempt stays counted. Passwords at sign-in are counted by the given email address,
/// so an account that does not exist looks like one that does.
pub struct Failures<'a> {
    app: &'a App,
    project: &'a ProjectId,
    subject: Subject,
    counter: Option<Counter>,
}

/// An attempt that stays counted as wrong unless [`Self::permit`] is called.
#[must_use]
pub struct Attempt<'a> {
    failures: &'a Failures<'a>,
    _place: Option<OwnedSemaphorePermit>,
}

impl<'a> Failures<'a> {
    /// The count of wrong passwords at sign-in.
    pub fn for_email(app: &'a App, project: &'a ProjectId, email: &str) -> Self {
        let normalised = AnyEmail::parse(email).map_or_else(|_| email.trim().to_lowercase(), |email| email.to_string());
        Self::by(app, project, Subject::email(&normalised))
    }

    /// The count of a signed-in user's wrong passwords when changing the password or
    /// reauthenticating. The count is separate from that at sign-in, so that strangers who guess
    /// passwords there cannot keep the owner from changing the password.
    pub fn for_old_password(app: &'a App, project: &'a ProjectId, user: UserId) -> Self {
        Self::by(app, project, Subject::proof("old-password", user))
    }

    /// The count of wrong codes of the second factor.
    pub fn for_second_factor(app: &'a App, project: &'a ProjectId, user: UserId) -> Self {
        Self::by(app, project, Subject::proof("second-factor", user))
    }

    fn by(app: &'a App, project: &'a ProjectId, subject: Subject) -> Self {
        let counter = app.settings.limits.counter(Rule::SignInFailures, &subject, app.clock.now());
        Self { app, project, subject, counter }
    }

    /// Counts an attempt; fails if the limit is reached. A process checks at most as many attempts
    /// at a time as the quota allows. Additional attempts wait instead of failing, because the
    /// attempts being checked may turn out to be correct and give back their counts.
    pub async fn begin(&self) -> Result<Attempt<'_>, store::Error> {
        let Some(counter) = &self.counter else { return Ok(Attempt { failures: self, _place: None }) };
        let place = self.app.memory.places(self.project, counter).acquire_owned().await.ok();
        let attempt = Attempt { failures: self, _place: place };
        let store = &self.app.store;
        let (before, counted) = futures_util::try_join!(store.window(self.project, counter), store.count_alone(self.project, counter))?;
        match before.judge(counted) {
            Ok(()) => Ok(attempt),
            // Attempts beyond the limit must not keep the owner out for longer.
            Err(error) => attempt.permit(async { Err(error) }).await,
        }
    }

    /// For an email address that nobody signs in with. Writes something in place of
    /// [`Store::count_wrong_password`](store::Store::count_wrong_password), so that the response
    /// takes about as long as for an address in use.
    pub async fn count_nobody(&self) -> Result<(), store::Error> {
        self.app.store.write_unrecorded(limit::count_nobody(self.project, &self.subject, self.app.clock.now())).await
    }

    /// The writes that reset the count, for the transaction of a password reset: guesses at the old
    /// password no longer count. There are usually no counts, and a read that finds none costs less
    /// than two deletions. A guess made between the read and the transaction stays counted.
    pub async fn forget(&self) -> Result<Vec<Write>, store::Error> {
        match &self.counter {
            Some(counter) => self.app.store.forget_counts(self.project, counter).await,
            None => Ok(Vec::new()),
        }
    }
}

impl Attempt<'_> {
    /// Does the work that a correct attempt permits, and takes back the attempt's count at the same
    /// time. A count that cannot be taken back is only logged.
    pub async fn permit<T>(self, work: impl Future<Output = T>) -> T {
        let (done, taken) = futures_util::join!(work, self.take_back());
        match taken {
            // A password reset may have reset the count already.
            Ok(()) | Err(store::Error::Conflict(_)) => {}
            Err(error) => tracing::warn!(%error, "a right password or code stays counted as wrong"),
        }
        done
    }

    async fn take_back(&self) -> Result<(), store::Error> {
        let Failures { app, project, counter, .. } = self.failures;
        match counter {
            Some(counter) => app.store.write_unrecorded(limit::take_back(project, counter)).await,
            None => Ok(()),
        }
    }
}
