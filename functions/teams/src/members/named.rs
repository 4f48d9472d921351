//! The user whom a request about members names.

use api::product::Access;
use errors::KnownError;
use model::user::reference::UserRef;
use wire::id::UserId;
use wire::level::Level;

/// The user whom the path or query names. Clients can name any user. The operation then checks
/// their permissions.
pub(crate) fn named<L>(access: &Access<L>, user: UserRef) -> Result<UserId, KnownError> {
    match user {
        UserRef::Id(user) if access.level == Level::Client => Ok(user),
        user => access.user_id(user),
    }
}
