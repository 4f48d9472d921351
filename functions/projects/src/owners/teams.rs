//! Users of the project `internal`, who own projects through their teams.

use api::product::{Access, Client};
use errors::{ErrorCode, KnownError};
use model::user::User;
use model::user::restriction::RestrictedReason;

/// The user of a request to the project `internal`. Anonymous and restricted users are rejected,
/// because they cannot own projects.
pub(crate) fn owner(access: &Access<Client>) -> Result<&User, KnownError> {
    if !access.project.id.is_internal() {
        return Err(KnownError::ExpectedInternalProject);
    }
    let user = access.user.as_ref().map(|current| &current.row.user).ok_or(KnownError::UserAuthenticationRequired)?;
    match access.restricted_reason(user) {
        None => Ok(user),
        Some(RestrictedReason::Anonymous) => Err(KnownError::AnonymousAuthenticationNotAllowed),
        Some(restricted_reason) => Err(KnownError::RestrictedUserNotAllowed { restricted_reason }),
    }
}

/// The errors of [`owner`], besides those that every operation with an access level can return.
pub(crate) const ERRORS: &[ErrorCode] = &[ErrorCode::ExpectedInternalProject, ErrorCode::UserAuthenticationRequired];
