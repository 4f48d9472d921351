//! What setting up an authenticator app requires, at its beginning and at its end.

use api::product::{Access, Client};
use errors::KnownError;
use model::user::User;

/// Refuses a sign-in that is too old to add an app. To add one to others is as sensitive as to
/// replace them: the new app signs in as they do.
pub(crate) fn check_proof(access: &Access<Client>, user: &User) -> Result<(), KnownError> {
    if user.totp.is_some() { access.check_just_proved() } else { access.check_fresh() }
}
