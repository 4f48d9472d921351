//! What the operations on contact channels share: whose channels a request is about, and how a change of them is written.

use api::http::Route;
use api::product::Access;
use deserr::Deserr;
use errors::{Error, KnownError};
use flows::accounts::{With, change_as};
use model::email::Email;
use model::user::channel::Refused;
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

/// Refuses a client's word on whether an address is verified: only a server may say so.
pub(crate) fn check_verified<L>(access: &Access<L>, is_verified: Option<bool>, route: &Route) -> Result<(), KnownError> {
    match is_verified {
        Some(_) if access.level < Level::Server => {
            Err(route.schema_error(&Problems::one("body.is_verified", "may be set with server access only")))
        }
        _ => Ok(()),
    }
}

/// Changes the channels of a user, with the claims of the addresses that sign in. `missing` is the error when there is no such user
/// any more; `value` is what an answer may tell of an address that somebody else signs in with; `with` belongs to the transaction.
pub(crate) async fn change<L>(
    access: &Access<L>,
    row: UserRow,
    missing: KnownError,
    value: Option<&Email>,
    with: Option<Write>,
    change: impl Fn(&mut User) -> Result<(), Refused>,
) -> Result<User, Error> {
    access.check_fresh()?;
    let changed = change_as(access, row, missing, |user| {
        change(user).map_err(refusal)?;
        Ok(With(with.clone().into_iter().collect()))
    });
    match changed.await {
        Ok(row) => Ok(row.user),
        Err(Error::Known(KnownError::UserEmailAlreadyExists { .. })) => {
            // A server's word does not take an address from anybody; a user's own is a wish, which takes none before it is verified.
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

fn refusal(refused: Refused) -> KnownError {
    match refused {
        Refused::NotFound => KnownError::ContactChannelNotFound,
        Refused::Duplicate => KnownError::ContactChannelAlreadyExists,
        Refused::TooMany => KnownError::TooManyContactChannels { max: MAX_CHANNELS },
    }
}
