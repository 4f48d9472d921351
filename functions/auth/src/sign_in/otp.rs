//! Who may sign in by email.

use errors::KnownError;
use model::project::ProjectConfig;
use store::user::EmailClaim;

/// Checks whether an email address may sign in by email: its account has not disabled sign-in by
/// email, or there is no account and sign-up is enabled.
///
/// An account with an unverified email address can disable sign-in by email only if the owner of
/// the address can reset the password instead. Otherwise the account's creator could keep the
/// address by disabling the only way to prove it.
pub(crate) fn may_sign_in(config: &ProjectConfig, claim: Option<&EmailClaim>) -> Result<(), KnownError> {
    match claim {
        Some(claim) if claim.refuses_codes && (claim.is_verified || config.credential_enabled) => Err(KnownError::MagicLinkNotEnabled),
        Some(_) => Ok(()),
        None if config.sign_up_enabled => Ok(()),
        None => Err(KnownError::SignUpNotEnabled),
    }
}
