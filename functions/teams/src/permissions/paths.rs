//! What paths of permissions name.

use deserr::Deserr;
use model::permission::PermissionId;
use model::user::reference::UserRef;
use utoipa::ToSchema;
use wire::id::TeamId;

#[expect(clippy::struct_field_names, reason = "these are the names of the path")]
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
