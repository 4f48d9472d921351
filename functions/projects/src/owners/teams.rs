//! Checks the users of the project `internal`, who own projects through their teams.

use api::product::{Access, Client};
use errors::{Error, ErrorCode, KnownError};
use flows::App;
use model::quota::Quota;
use model::user::User;
use model::user::restriction::RestrictedReason;
use wire::id::TeamId;

/// The user of a request to the project `internal`. Rejects anonymous and restricted users, who
/// cannot own projects.
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

/// Makes room for another project in a full team by removing the records of former projects. The
/// caller then tries again. Fails if the team is still full, or with `missing` if the team does not
/// exist.
pub(crate) async fn make_room(app: &App, team: TeamId, missing: impl Fn() -> Error) -> Result<(), Error> {
    match app.store.makes_room(team).await? {
        Some(true) => Ok(()),
        Some(false) => Err(KnownError::TooManyProjects { max: Quota::Projects.max() }.into()),
        None => Err(missing()),
    }
}

/// The errors of [`owner`], in addition to the errors of every operation with an access level.
pub(crate) const ERRORS: &[ErrorCode] = &[ErrorCode::ExpectedInternalProject, ErrorCode::UserAuthenticationRequired];
