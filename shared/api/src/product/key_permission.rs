//! Keys with limited permissions. The permissions are in the item of the key, which is read to
//! prove the access, so checking them costs nothing more.

use errors::KnownError;
use model::project::ApiKey;

use crate::http::route::Route;

/// Checks that the key which proved the access may use the operation.
pub(crate) fn permit(key: Option<&ApiKey>, route: Option<&Route>) -> Result<(), KnownError> {
    let Some(key) = key.filter(|key| key.permissions.is_some()) else { return Ok(()) };
    let needed = route.and_then(Route::permission);
    if needed.is_some_and(|needed| key.may(needed)) {
        return Ok(());
    }
    Err(KnownError::InsufficientKeyPermission { required_permission: needed.map(|needed| needed.to_string()) })
}
