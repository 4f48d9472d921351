//! Who may sign in by email.

use errors::KnownError;
use model::project::ProjectConfig;
use store::user::EmailClaim;

/// Whether an address may sign in by email: its account has not switched that off, or it has none and may sign up.
///
/// An account whose address nobody has proved switches it off for its creator alone where its owner could not reset a password instead:
/// nobody keeps an address by refusing its only proof.
pub(crate) fn may_sign_in(config: &ProjectConfig, claim: Option<&EmailClaim>) -> Result<(), KnownError> {
    match claim {
        Some(claim) if claim.refuses_codes && (claim.is_verified || config.credential_enabled) => Err(KnownError::MagicLinkNotEnabled),
        Some(_) => Ok(()),
        None if config.sign_up_enabled => Ok(()),
        None => Err(KnownError::SignUpNotEnabled),
    }
}
