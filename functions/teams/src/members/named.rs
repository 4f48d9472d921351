//! Whom a request about members names.

use api::product::Access;
use errors::KnownError;
use model::user::reference::UserRef;
use wire::id::UserId;
use wire::level::Level;

/// The user of a path: here a client may name others, and its permission decides.
pub(crate) fn named<L>(access: &Access<L>, user: UserRef) -> Result<UserId, KnownError> {
    match user {
        UserRef::Id(user) if access.level == Level::Client => Ok(user),
        user => access.user_id(user),
    }
}
