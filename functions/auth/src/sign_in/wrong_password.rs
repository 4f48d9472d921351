//! Wrong passwords at sign-in are counted per user, and the count does not expire (SP 800-63B-4,
//! §3.2.2).
//!
//! By default, the limit per email address ([`Failures`]) allows ten attempts every ten minutes,
//! indefinitely. After a hundred consecutive failures, the account does not accept passwords until
//! the password is replaced or the owner signs in another way. Only the owner learns of this, by
//! email, because the responses to correct and wrong passwords are the same and take the same work.

use api::product::{Access, Client};
use errors::Error;
use flows::email::gate::{self, Address, Cause};
use flows::email::notice::{facts, new_entry};
use flows::limits::Failures;
use model::document::builtin::Builtin;
use model::trail::Event;
use model::user::User;
use store::user::password::{self, Guess};

/// Counts a wrong password for the user with the email address, if there is one. The password has
/// already been counted for the address. Attempts above the address's limit are not counted here,
/// so a flood of them cannot close an account to passwords within minutes.
pub(crate) async fn count(access: &Access<Client>, failures: &Failures<'_>, user: Option<&User>) -> Result<(), Error> {
    let project = &access.project;
    let record = access.app.store.record_failure(user.map(|user| user.id), Event::SignInFailed);
    let Some(user) = user else { return Ok(tokio::try_join!(failures.count_nobody(), record).map(drop)?) };
    let count = access.app.store.count_wrong_password(&project.id, user.id, Guess::SignIn);
    let (is_counted, ()) = tokio::try_join!(count, record)?;
    if is_counted { Ok(()) } else { close(access, user).await }
}

/// Closes an account to passwords, and notifies the owner. Only one of several concurrent requests
/// closes the account, so the owner gets only one email.
async fn close(access: &Access<Client>, user: &User) -> Result<(), Error> {
    let (app, now) = (&access.app, access.app.clock.now());
    let address = user.primary().filter(|_| user.password.is_some()).map(|channel| channel.value.clone());
    let email = address.map(|to| {
        let cause = Cause { address: Address::of(user, &to), place: Some(&access.place) };
        let new = new_entry(user, to, Builtin::PasswordClosed, facts(Some(&access.place), now), now);
        gate::notice(app, &access.project.id, cause, new)
    });
    let email = email.transpose()?;
    let close = password::close(&access.project.id, user.id);
    match app.store.transact_unrecorded([close].into_iter().chain(email).collect()).await {
        Ok(()) | Err(store::Error::Conflict(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
