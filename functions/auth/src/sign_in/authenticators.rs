//! Checks that the session has a recent proof, which both steps of setting up an authenticator app
//! or a passkey require.

use api::product::{Access, Client};
use errors::KnownError;
use model::user::User;

/// Fails with `REAUTHENTICATION_REQUIRED` if the session's last proof is too old for adding an app
/// or a passkey, or if the session still requires a second factor. For a user who already has an
/// app, the stricter limit for removing an app applies, because the new credential can complete
/// sign-ins in place of the old app.
pub(crate) fn check_proof(access: &Access<Client>, user: &User) -> Result<(), KnownError> {
    if user.totp.is_some() { access.check_just_proved() } else { access.check_fresh() }
}
