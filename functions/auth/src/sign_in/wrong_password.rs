//! Wrong passwords at sign-in, counted per user without an expiry (SP 800-63B-4, §3.2.2).
//!
//! The limit per email address ([`Failures`]) allows ten attempts every ten minutes by default, for
//! as long as somebody tries. After a hundred consecutive failures the account is closed to
//! passwords until the password is replaced or the owner signs in another way. An email tells the
//! owner. Nobody else can tell that an account is closed: a correct password gets the same response
//! as a wrong one, after the same work.

use api::product::{Access, Client};
use errors::Error;
use flows::email::notice::{entry, facts, new_entry};
use flows::limits::Failures;
use model::outbox::Builtin;
use model::trail::Event;
use model::user::{MAX_WRONG_PASSWORDS, User};
use store::user::password::Guess;

/// Counts a wrong password for the email address and, if the address has an account, for its user.
pub(crate) async fn count(access: &Access<Client>, failures: &Failures<'_>, user: Option<&User>) -> Result<(), Error> {
    let project = &access.project;
    // The limit per email address is counted first and may reject the request. A rejected attempt
    // is not counted below, so a flood of attempts cannot close an account to passwords within
    // minutes.
    failures.count().await?;
    let record = access.app.store.record_failure(user.map(|user| user.id), Event::SignInFailed);
    let Some(user) = user else { return Ok(tokio::try_join!(failures.count_nobody(), record).map(drop)?) };
    let count = access.app.store.count_wrong_password(&project.id, user.id, Guess::SignIn);
    let (counted, ()) = tokio::try_join!(count, record)?;
    // Of several concurrent requests, exactly one reaches this number, so one email is sent.
    if let Some(closed) = counted.filter(|user| user.wrong_passwords == MAX_WRONG_PASSWORDS && user.password.is_some())
        && let Some(channel) = closed.primary()
    {
        let now = access.app.clock.now();
        let facts = facts(Some(&access.place), now);
        let email = new_entry(&closed, channel.value.clone(), Builtin::PasswordClosed, facts, now);
        access.app.store.write_unrecorded(entry(&access.app, project, email)?).await?;
    }
    Ok(())
}
