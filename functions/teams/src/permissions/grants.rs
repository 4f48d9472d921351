//! Grants of permissions: their paths and errors.

use deserr::Deserr;
use errors::ErrorCode;
use model::permission::PermissionId;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::TeamId;

/// Errors of granting or revoking a team permission.
pub(crate) const TEAM_GRANT_ERRORS: &[ErrorCode] = &[
    ErrorCode::CannotGetOwnUserWithoutUser,
    ErrorCode::TeamNotFound,
    ErrorCode::TeamMembershipNotFound,
    ErrorCode::PermissionNotFound,
    ErrorCode::WrongPermissionScope,
];
/// Errors of granting or revoking a project permission.
pub(crate) const PROJECT_GRANT_ERRORS: &[ErrorCode] =
    &[ErrorCode::CannotGetOwnUserWithoutUser, ErrorCode::UserNotFound, ErrorCode::PermissionNotFound, ErrorCode::WrongPermissionScope];

#[expect(clippy::struct_field_names, reason = "the names are those of the path")]
#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct TeamPermissionPath {
    pub(crate) team_id: TeamId,
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
    pub(crate) permission_id: PermissionId,
}

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ProjectPermissionPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
    pub(crate) permission_id: PermissionId,
}
