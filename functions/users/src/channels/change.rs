//! The path parameters of the operations on contact channels, and the function that writes a
//! change.

use api::http::Route;
use api::product::Access;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::accounts::{ExtraWrites, change_as};
use model::email::{Email, EmailRefusal};
use model::user::channel::Refusal;
use model::user::reference::UserRef;
use model::user::{MAX_CHANNELS, User};
use store::Write;
use store::user::UserRow;
use utoipa::ToSchema;
use wire::id::ChannelId;
use wire::level::Level;
use wire::problem::Problems;

#[derive(Deserr, ToSchema)]
#[deserr(deny_unknown_fields)]
pub struct ChannelPath {
    /// A user's id, or `me`.
    #[schema(value_type = String)]
    pub(crate) user_id: UserRef,
    pub(crate) contact_channel_id: ChannelId,
}

/// Rejects `is_verified` from a client, because only a server may set this field.
pub(crate) fn check_verified<L>(access: &Access<L>, is_verified: Option<bool>, route: &Route) -> Result<(), KnownError> {
    match is_verified {
        Some(_) if access.level < Level::Server => {
            Err(route.schema_error(&Problems::one("body.is_verified", "can be set only with server access")))
        }
        _ => Ok(()),
    }
}

/// Rejects an address from a client if a user could not sign up with it. Servers can import any
/// address.
pub(crate) fn check_address<L>(access: &Access<L>, value: &Email, route: &Route) -> Result<(), KnownError> {
    if access.level < Level::Server && !value.is_public() {
        return Err(route.schema_error(&Problems::one("body.value", EmailRefusal)));
    }
    Ok(())
}

/// Changes a user's channels, together with the claims of sign-in addresses. `missing` is the error
/// if the user no longer exists. The error says whether another user signs in with the address
/// `value`, unless this must not be revealed. `change` returns the additional writes.
pub(crate) async fn change<L>(
    access: &Access<L>,
    row: UserRow,
    missing: KnownError,
    value: Option<&Email>,
    change: impl Fn(&mut User) -> Result<Vec<Write>, Refusal>,
) -> Result<User, Error> {
    access.check_fresh()?;
    match change_as(access, row, missing, |user| Ok(ExtraWrites(change(user).map_err(refusal)?))).await {
        Ok(row) => Ok(row.user),
        Err(Error::Known(KnownError::UserEmailAlreadyExists { .. })) => {
            // Verifying the address would not resolve the conflict. A server cannot take the
            // address from another user, and an address that a user adds is not claimed until it is
            // verified.
            Err(KnownError::ContactChannelAlreadyUsedForAuthBySomeoneElse {
                r#type: "email",
                contact_channel_value: value.map(ToString::to_string),
                would_work_if_email_was_verified: false,
            }
            .into())
        }
        Err(error) => Err(error),
    }
}

fn refusal(refused: Refusal) -> KnownError {
    match refused {
        Refusal::NotFound => KnownError::ContactChannelNotFound,
        Refusal::Duplicate => KnownError::ContactChannelAlreadyExists,
        Refusal::TooMany => KnownError::TooManyContactChannels { max: MAX_CHANNELS },
        Refusal::LastWay => KnownError::LastSignInMethod,
    }
}
