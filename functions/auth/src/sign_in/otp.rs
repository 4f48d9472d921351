//! Decides who may sign in by email.

use errors::KnownError;
use model::project::ProjectConfig;
use store::user::EmailClaim;

/// Checks whether the owner of an email address may sign in with an emailed code.
///
/// If the address has no account, sign-up must be enabled. If the account has disabled sign-in by
/// email, the address is refused, unless it is unverified and the project has no passwords. The
/// owner of such an address could not reset a password, so the creator of the account would keep
/// another person's address.
pub(crate) fn may_sign_in(config: &ProjectConfig, claim: Option<&EmailClaim>) -> Result<(), KnownError> {
    match claim {
        Some(claim) if claim.refuses_codes && (claim.is_verified || config.credential_enabled) => Err(KnownError::MagicLinkNotEnabled),
        Some(_) => Ok(()),
        None if config.sign_up_enabled => Ok(()),
        None => Err(KnownError::SignUpNotEnabled),
    }
}
