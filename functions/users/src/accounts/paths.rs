//! Path parameters of the operations on users.

use deserr::Deserr;
use model::user::reference::UserRef;
use utoipa::ToSchema;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct UserPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
}
