//! The user whom a request about members names.

use api::product::Access;
use errors::KnownError;
use model::user::reference::UserRef;
use wire::id::UserId;
use wire::level::Level;

/// The user whom the path or the query names. A client may name any user here; the operation then
/// checks the client's permissions.
pub(crate) fn named<L>(access: &Access<L>, user: UserRef) -> Result<UserId, KnownError> {
    match user {
        UserRef::Id(user) if access.level == Level::Client => Ok(user),
        user => access.user_id(user),
    }
}
