//! The password of a signed-in user, given once more: to replace it, or as a fresh proof.

use crypto::password::Password;
use crypto::password::hash::Verdict;
use errors::{Error, KnownError};
use flows::App;
use flows::limits::Failures;
use model::trail::Event;
use model::user::User;
use store::user::Guess;
use wire::id::ProjectId;

/// Checks the password, and counts a wrong one. The write that follows from it is conditional on what the failures still allow.
///
/// Whoever has a stolen session guesses here, and strangers guess at sign-in: each is counted apart.
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
