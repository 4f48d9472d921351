//! Confirms the password of a signed-in user, before a change or as a fresh proof.

use crypto::password::Password;
use crypto::password::hash::Verdict;
use errors::{Error, KnownError};
use flows::App;
use flows::limits::Failures;
use model::trail::Event;
use model::user::User;
use store::user::password::Guess;
use wire::id::ProjectId;

/// Checks the password and counts a wrong one. The subsequent transaction must include
/// [`Failures::still_allowed`], which checks that the limit has not been reached meanwhile.
///
/// Here, the guesses come from whoever stole a session, at sign-in from strangers, so the two are
/// counted separately.
pub(crate) async fn prove<'a>(app: &'a App, project: &'a ProjectId, user: &User, password: &Password) -> Result<Failures<'a>, Error> {
    let hash = user.password.as_ref().ok_or(KnownError::UserDoesNotHavePassword)?;
    let failures = Failures::of_old_password(app, project, user.id);
    failures.check().await?;
    let checked = Some(hash).filter(|_| !user.is_closed_to_old_passwords());
    if app.hasher.verify(checked, password, None).await == Verdict::Wrong {
        failures.count().await?;
        let count = app.store.count_wrong_password(project, user.id, Guess::OldPassword);
        tokio::try_join!(count, app.store.record_failure(Some(user.id), Event::ProofFailed))?;
        return Err(KnownError::PasswordConfirmationMismatch.into());
    }
    Ok(failures)
}
