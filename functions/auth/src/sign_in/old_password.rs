//! Confirms the password of a signed-in user, before a change or as a new proof.

use api::product::{Access, Client};
use crypto::password::Password;
use crypto::password::hash::Verdict;
use errors::{Error, KnownError};
use flows::limits::{Attempt, Failures};
use model::trail::Event;
use model::user::User;
use store::user::password::Guess;

/// Checks the password. The attempt stays counted as wrong unless the caller permits it.
///
/// Guesses at the old password come from someone who stole a session, so they are counted
/// separately from the guesses of strangers at sign-in.
pub(crate) async fn prove<'a>(
    failures: &'a Failures<'_>,
    access: &Access<Client>,
    user: &User,
    password: &Password,
) -> Result<Attempt<'a>, Error> {
    let (app, project) = (&access.app, &access.project.id);
    let hash = user.password.as_ref().ok_or(KnownError::UserDoesNotHavePassword)?;
    let attempt = failures.begin().await?;
    let checked = Some(hash).filter(|_| !user.is_closed_to_old_passwords());
    if app.hasher.verify(checked, password, None).await == Verdict::Wrong {
        let count = app.store.count_wrong_password(project, user.id, Guess::OldPassword);
        tokio::try_join!(count, app.store.record_failure(Some(user.id), Event::ProofFailed))?;
        return Err(KnownError::PasswordConfirmationMismatch.into());
    }
    Ok(attempt)
}
