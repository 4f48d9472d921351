//! Wrong passwords at sign-in, counted with the user for all time (SP 800-63B-4, §3.2.2).
//!
//! The limit by address ([`Failures`]) lets ten through in ten minutes, for as long as somebody has
//! patience. After a hundred in a row the account is closed to passwords, until its owner resets the
//! password or signs in in another way, and is told so by a mail. Nobody else can tell a closed
//! account: the right password is answered like a wrong one, after the same work.

use api::product::{Access, Client};
use errors::Error;
use flows::email::notice::{entry, facts};
use flows::limits::Failures;
use model::outbox::Builtin;
use model::trail::Event;
use model::user::{MAX_WRONG_PASSWORDS, User};
use store::user::Guess;

/// Counts a wrong password for the user who has the address, if anybody has it.
pub(crate) async fn count(access: &Access<Client>, failures: &Failures<'_>, user: Option<&User>) -> Result<(), Error> {
    let project = &access.project;
    // First, as it may refuse: what is refused is no guess, so a flood of them closes nothing.
    failures.count().await?;
    let record = access.app.store.record_failure(user.map(|user| user.id), Event::SignInFailed);
    let Some(user) = user else { return Ok(tokio::try_join!(failures.count_nobody(), record).map(drop)?) };
    let count = access.app.store.count_wrong_password(&project.id, user.id, Guess::SignIn);
    let (counted, ()) = tokio::try_join!(count, record)?;
    // Exactly one of all that count sees this number.
    if let Some(closed) = counted.filter(|user| user.wrong_passwords == MAX_WRONG_PASSWORDS && user.password.is_some())
        && let Some(channel) = closed.primary()
    {
        let now = access.app.clock.now();
        let facts = facts(Some(&access.place), now);
        access
            .app
            .store
            .write_unrecorded(entry(&access.app, project, &closed, channel.value.clone(), Builtin::PasswordClosed, facts, now)?)
            .await?;
    }
    Ok(())
}
