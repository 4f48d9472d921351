//! Finds the user whom a request about members names.

use api::product::Access;
use errors::KnownError;
use model::user::reference::UserRef;
use wire::id::UserId;
use wire::level::Level;

/// The user whom the path or query names. A client can name any user, because the operation then
/// checks the client's permissions.
pub(crate) fn named<L>(access: &Access<L>, user: UserRef) -> Result<UserId, KnownError> {
    match user {
        UserRef::Id(user) if access.level == Level::Client => Ok(user),
        user => access.user_id(user),
    }
}
