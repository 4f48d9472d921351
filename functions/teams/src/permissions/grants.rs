//! The paths and errors of operations on grants, and changes to grants of project permissions.

use std::collections::BTreeSet;

use api::product::input::{IgnoredBody, Nothing};
use api::product::{Access, Input, Server};
use deserr::Deserr;
use errors::{Error, ErrorCode, KnownError};
use flows::accounts::{ExtraWrites, change_read, read};
use model::permission::{Grant, PermissionId, Scope};
use model::team::ProjectPermission;
use model::user::User;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::TeamId;

pub(crate) const TEAM_GRANT_ERRORS: &[ErrorCode] = &[
    ErrorCode::CannotGetOwnUserWithoutUser,
    ErrorCode::TeamNotFound,
    ErrorCode::TeamMembershipNotFound,
    ErrorCode::PermissionNotFound,
    ErrorCode::WrongPermissionScope,
];
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

/// A request to grant or revoke the project permission named in the path.
pub(crate) type ProjectGrant = Input<IgnoredBody, Nothing, ProjectPermissionPath>;

/// Grants the project permission named in the path to the user named in the path, or revokes it.
/// `change` returns `false` if the user does not have the permission.
pub(crate) async fn change_project(
    access: &Access<Server>,
    Input { path, .. }: ProjectGrant,
    change: impl Fn(&mut BTreeSet<Grant>, Grant) -> bool,
) -> Result<ProjectPermission, Error> {
    let user_id = access.user_id(path.user_id)?;
    let grant = access.project.config.rbac.grant(&path.permission_id, Scope::Project)?;
    let change = |user: &mut User| {
        if change(&mut user.permissions, grant.clone()) {
            return Ok(ExtraWrites::default());
        }
        Err(KnownError::PermissionNotFound { permission_id: path.permission_id.to_string() }.into())
    };
    let row = read(access, user_id).await?.ok_or(KnownError::UserNotFound)?;
    change_read(&access.app, &access.project.id, row, KnownError::UserNotFound, change).await?;
    Ok(ProjectPermission { id: path.permission_id, user_id })
}
