//! The path parameters of the operations on a user's passkeys, and the function that writes a
//! change.

use api::product::Access;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::accounts::{ExtraWrites, change_as};
use model::user::User;
use model::user::passkey::{MAX_PASSKEYS, Refusal};
use model::user::reference::UserRef;
use store::user::UserRow;
use utoipa::ToSchema;
use wire::id::PasskeyId;
use wire::level::Level;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct PasskeyPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
    /// The passkey's id in Gatelet, not the id of the credential.
    pub(crate) passkey_id: PasskeyId,
}

/// Changes a user's passkeys. A client must not remove its user's last way to sign in.
pub(crate) async fn change<L>(access: &Access<L>, row: UserRow, change: impl Fn(&mut User) -> Result<(), Refusal>) -> Result<User, Error> {
    let changed = change_as(access, row, KnownError::PasskeyNotFound, |user| {
        let before = user.clone();
        change(user).map_err(refusal)?;
        if access.level < Level::Server {
            user.keeps_way_to_sign_in(&before, &access.project.config).map_err(|_| KnownError::LastSignInMethod)?;
        }
        Ok(ExtraWrites::default())
    });
    Ok(changed.await?.user)
}

pub(crate) fn refusal(refused: Refusal) -> KnownError {
    match refused {
        Refusal::NotFound => KnownError::PasskeyNotFound,
        Refusal::TooMany => KnownError::TooManyPasskeys { limit: MAX_PASSKEYS },
        Refusal::Duplicate => KnownError::PasskeyRegistrationFailed { message: refused.to_string() },
        Refusal::Cloned => KnownError::PasskeyAuthenticationFailed { message: refused.to_string() },
    }
}
