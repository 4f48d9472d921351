//! Confirms the password of a signed-in user, before a change or as a new proof.

use api::product::{Access, Client};
use crypto::password::Password;
use crypto::password::hash::Verdict;
use errors::{Error, KnownError};
use flows::limits::{Attempt, Failures};
use model::trail::Event;
use model::user::User;
use store::user::password::Guess;

/// Checks the password, and counts it as wrong unless the returned attempt permits the change.
///
/// These guesses are counted separately from guesses at sign-in. Guesses here come from someone who
/// stole a session, while guesses at sign-in come from strangers.
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
